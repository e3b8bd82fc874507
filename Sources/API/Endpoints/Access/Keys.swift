import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/keys`: who may call for an app, and what each may do. A secret is in one answer and nowhere after it: the store has
/// its SHA-256, and the same request again under its `Idempotency-Key` is answered without it.
struct Keys: Sendable {
    let store: any Store
    let ring: KeyRing

    /// Those in force. More are a mistake.
    private static let inForceMax = 100
    /// How long a key lives beside the one that takes its place.
    private static let overlapRange: ClosedRange<Int64> = 0...2_592_000
    private static let overlapStandard: Int64 = 86_400
    private static let hintCount = 4

    /// `GET /v1/keys`, the newest first.
    func list(app: AppID) async -> HTTPResponse {
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in try reader.apiKeys(app: app) }
            return .json(.ok) { json in
                json.array("keys") { json in
                    for key in found { json.object { Keys.write(key, into: &$0) } }
                }
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `POST /v1/keys`
    func create(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> Gate.Answer {
        let asked: KeyRequest
        do throws(RequestBody.Fault) {
            asked = try KeyRequest(change.request.body, by: change.key)
        } catch {
            return Gate.Answer(error.response)
        }
        let inForce = try transaction.apiKeys(app: change.app.id).filter { $0.isInForce(at: change.now) }
        let isTaken = inForce.contains { $0.name == asked.name }
        guard !isTaken, !ring.isGiven(KeyRing.Holder(name: asked.name, app: change.app.id)) else {
            return Gate.Answer(Problem.conflict("key_name_taken", "Another key of the app has this name."))
        }
        guard inForce.count < Keys.inForceMax else {
            return Gate.Answer(
                Problem.conflict("too_many_keys", "An app has at most \(Keys.inForceMax) keys that are in force.")
            )
        }
        let made = Keys.make(
            name: asked.name,
            kind: asked.kind.rawValue,
            scopes: asked.scopes.map(\.rawValue).sorted(),
            environments: asked.environments,
            change
        ) { $0.expiresAt = asked.days.map { change.now.advanced(by: .seconds($0 * 86_400)) } }
        try transaction.addAPIKey(made.row)
        return Keys.answer(made.row, secret: made.secret)
    }

    /// `POST /v1/keys/{id}/rotate`: a new secret for the same holder; the old one lives on for `overlap_seconds`.
    func rotate(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> Gate.Answer {
        guard var old = try Keys.find(change, transaction) else { return Gate.Answer(Problem.notFound("key")) }
        let overlap: Int64
        do throws(RequestBody.Fault) {
            let bytes = change.request.body
            overlap =
                bytes.isEmpty
                ? Keys.overlapStandard
                : try RequestBody(bytes, members: ["overlap_seconds"]).whole("overlap_seconds", Keys.overlapRange)
                    ?? Keys.overlapStandard
        } catch {
            return Gate.Answer(error.response)
        }
        guard Keys.mayGive(change.key, old) else {
            return Gate.Answer(
                Problem.response(.forbidden, code: "more_than_own", detail: "No key gives more than it has.")
            )
        }
        let end = change.now.advanced(by: .seconds(overlap))
        let lifetime = old.expiresAt
        old.expiresAt = min(old.expiresAt ?? end, end)
        let made = Keys.make(
            name: old.name,
            kind: old.kind,
            scopes: old.scopes,
            environments: old.environments,
            change
        ) { $0.expiresAt = lifetime }
        try transaction.endAPIKey(old)
        try transaction.addAPIKey(made.row)
        return Keys.answer(made.row, secret: made.secret)
    }

    /// `POST /v1/keys/{id}/revoke`: it opens nothing from now on; on other servers within seconds.
    func revoke(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        guard var key = try Keys.find(change, transaction) else { return Problem.notFound("key") }
        key.revokedAt = change.now
        try transaction.endAPIKey(key)
        return .json(.ok) { Keys.write(key, into: &$0) }
    }

    /// The app's key in the path, if it is in force.
    private static func find(
        _ change: Gate.Change,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> APIKeyRow? {
        guard let id = change.path["id"].flatMap({ APIKeyID($0) }), let key = try reader.apiKey(id),
            key.app == change.app.id, key.isInForce(at: change.now)
        else { return nil }
        return key
    }

    /// Nobody gives what he has not: neither a new key nor a new secret for a mightier one.
    private static func mayGive(_ giver: APIKey, _ row: APIKeyRow) -> Bool {
        let key = APIKey(row)
        guard key.scopes.isSubset(of: giver.scopes) else { return false }
        guard let own = giver.environments else { return true }
        return key.environments.map { $0.isSubset(of: own) } ?? false
    }

    private static func make(
        name: String,
        kind: String,
        scopes: [String],
        environments: [String]?,
        _ change: Gate.Change,
        _ ending: (inout APIKeyRow) -> Void
    ) -> (row: APIKeyRow, secret: String) {
        let isTest = environments.map { !$0.contains(StoreEnvironment.production.rawValue) } ?? false
        let prefix = (kind == KeyKind.publishable.rawValue ? "pk_" : "sk_") + (isTest ? "test_" : "live_")
        let secret = prefix + Hexadecimal.encode(SecureRandom.bytes(24))
        var row = APIKeyRow(
            id: APIKeyID(checked: APIKeyID.prefix + Hexadecimal.encode(SecureRandom.bytes(12))),
            app: change.app.id,
            name: name,
            kind: kind,
            scopes: scopes,
            environments: environments,
            sha256: Digest.sha256(Array(secret.utf8)),
            hint: String(secret.suffix(hintCount)),
            createdAt: change.now,
            createdBy: change.key.holder.name
        )
        ending(&row)
        return (row, secret)
    }

    private static func answer(_ row: APIKeyRow, secret: String) -> Gate.Answer {
        Gate.Answer(
            shown: .json(.created) { json in
                write(row, into: &json)
                json.member("secret", secret)
            },
            kept: .json(.created) { write(row, into: &$0) }
        )
    }

    private static func write(_ key: APIKeyRow, into json: inout JSONObjectWriter) {
        json.member("key_id", key.id.text)
        json.member("name", key.name)
        json.member("kind", key.kind)
        json.array("scopes") { json in for scope in key.scopes { json.element(scope) } }
        if let environments = key.environments {
            json.array("environments") { json in for environment in environments { json.element(environment) } }
        }
        json.member("hint", key.hint)
        json.member("created_at", TransactionJSON.text(key.createdAt))
        json.member("created_by", key.createdBy)
        json.member("expires_at", TransactionJSON.text(key.expiresAt))
        json.member("revoked_at", TransactionJSON.text(key.revokedAt))
        json.member("last_used_at", TransactionJSON.text(key.lastUsedAt))
    }
}

extension Gate.Answer {
    /// One that may be shown as often as it is asked for.
    init(_ response: HTTPResponse) {
        self.init(shown: response, kept: response)
    }
}
