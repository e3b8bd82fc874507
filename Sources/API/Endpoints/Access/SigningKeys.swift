import Encoding
import HTTP

/// `GET /v1/signing-keys`: by which keys answers are signed.
struct SigningKeys: Sendable {
    /// `nil` where nothing is signed.
    let signer: AnswerSigner?

    func list() -> HTTPResponse {
        .json(.ok) { json in
            json.array("keys") { json in
                guard let signer else { return }
                json.object { json in
                    let key = Base64.encode(signer.publicKey, .standard, isPadded: true)
                    json.member("key_id", signer.keyID)
                    json.member("algorithm", "Ed25519")
                    json.member("public_key", String(decoding: key, as: UTF8.self))
                }
            }
        }
    }
}
