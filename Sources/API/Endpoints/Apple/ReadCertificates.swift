import Encoding
import HTTP
import Pipeline
import Storage

/// `GET /v1/certificates`: the certificates that proofs came with, the newest first. They are no secrets, and the same for
/// every app.
struct ReadCertificates: Sendable {
    let store: any Store

    func list() async -> HTTPResponse {
        do throws(StoreFailure) {
            let seen = try await store.read { reader throws(StoreFailure) in try reader.certificates() }
            return .json(.ok) { json in
                json.array("certificates") { json in
                    for certificate in seen { json.object { CertificateJSON.write(certificate, into: &$0) } }
                }
            }
        } catch {
            return Problem.store(error)
        }
    }
}
