import Encoding
import HTTP
import Storage

/// `/livez`, `/readyz`, `/metrics` and `/openapi.json`.
struct Health: Sendable {
    let store: any Store
    let metrics: @Sendable () -> String

    /// The process answers; nothing else is asked.
    func live() -> HTTPResponse {
        .json(.ok) { $0.member("status", "live") }
    }

    /// The ledger can be read and takes writes: after a fault of its disk it takes none until the next start, and on a full one
    /// none until there is room. Nothing is written to find out, and nothing counted: it is asked every few seconds, and millions
    /// may wait after an import.
    func ready() async -> HTTPResponse {
        do throws(StoreFailure) {
            try await store.confirmWritable()
            if store.lacksRoom { throw .full }
            _ = try await store.read { reader throws(StoreFailure) in try reader.knownApps() }
            return .json(.ok) { $0.member("status", "ready") }
        } catch {
            return Problem.store(error)
        }
    }

    /// What is answered here and sent from here, in OpenAPI.
    static func description() -> HTTPResponse {
        HTTPResponse(.ok, fields: ["Content-Type": "application/json"], body: Description.standard.document.bytes)
    }

    func scrape() -> HTTPResponse {
        HTTPResponse(
            .ok,
            fields: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"],
            body: Array(metrics().utf8)
        )
    }
}
