import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/keys`: who may call for an app, and what each may do. The same request again under its `Idempotency-Key` is
/// answered without the secret.
struct Keys: Sendable {
    let store: any Store
    let desk: KeyDesk
    let clock: any WallClock

    /// `GET /v1/keys`, the newest first.
    func list(app: AppID) async -> HTTPResponse {
        let now = clock.now
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in try reader.apiKeys(app: app, at: now) }
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
        let wish: KeyWish
        do throws(RequestBody.Fault) {
            switch try KeyRequest.wish(change.request.body, by: change.key) {
            case .success(let asked): wish = asked
            case .failure(let fault): return Keys.answer(.failure(fault))
            }
        } catch {
            return Gate.Answer(error.response)
        }
        let result = try desk.create(wish, KeyDesk.Asking(change), in: transaction)
        if case .success(let made) = result {
            try transaction.noteAdminAction(change.action("key_made", of: made.row.id.text, made.row.sentence))
        }
        return Keys.answer(result)
    }

    /// `POST /v1/keys/{id}/rotate`: a new secret for the same holder; the old one lives on for `overlap_seconds`.
    func rotate(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> Gate.Answer {
        guard let id = change.path["id"].flatMap({ APIKeyID($0) }) else { return Keys.answer(.failure(.unknown)) }
        let overlap: Int64?
        do throws(RequestBody.Fault) {
            overlap = try RequestBody(optional: change.request.body, members: ["overlap_seconds"])
                .whole("overlap_seconds", KeyDesk.overlapRange)
        } catch {
            return try isKnown(id, change, transaction)
                ? Gate.Answer(error.response) : Keys.answer(.failure(.unknown))
        }
        let seconds = overlap ?? KeyDesk.overlapStandard
        let result = try KeyDesk.rotate(id, overlap: seconds, KeyDesk.Asking(change), in: transaction)
        if case .success(let made) = result {
            let detail = "\(made.row.sentence); \(id) ends after \(seconds) s"
            try transaction.noteAdminAction(change.action("key_rotated", of: made.row.id.text, detail))
        }
        return Keys.answer(result)
    }

    /// Whether there is such a key comes before what is wanted with it.
    private func isKnown(
        _ id: APIKeyID,
        _ change: Gate.Change,
        _ transaction: any StoreTransaction
    ) throws(StoreFailure) -> Bool {
        try transaction.apiKey(id).map { $0.app == change.app.id && $0.isInForce(at: change.now) } ?? false
    }

    /// `POST /v1/keys/{id}/revoke`: it opens nothing from now on; on other servers within seconds.
    func revoke(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        guard let id = change.path["id"].flatMap({ APIKeyID($0) }) else { return Keys.problem(.unknown) }
        if let fault = RequestBody.fault(unlessEmpty: change.request.body) {
            return try isKnown(id, change, transaction) ? fault.response : Keys.problem(.unknown)
        }
        switch try KeyDesk.revoke(id, KeyDesk.Asking(change), in: transaction) {
        case .success(let key):
            try transaction.noteAdminAction(change.action("key_revoked", of: key.id.text, key.sentence))
            return .json(.ok) { Keys.write(key, into: &$0) }
        case .failure(let fault): return Keys.problem(fault)
        }
    }

    private static func problem(_ fault: KeyDesk.Fault) -> HTTPResponse {
        switch fault {
        case .unknown: Problem.notFound("key")
        case .changed: Problem.store(.conflict)
        case .nameTaken: Problem.conflict("key_name_taken", "Another key of the app has this name.")
        case .tooMany:
            Problem.conflict("too_many_keys", "An app has at most \(KeyDesk.inForceMax) keys that are in force.")
        case .moreThanOwn:
            Problem.response(.forbidden, code: "more_than_own", detail: "No key gives more than it has.")
        }
    }

    private static func answer(_ result: Result<KeyDesk.Made, KeyDesk.Fault>) -> Gate.Answer {
        switch result {
        case .success(let made): answer(made.row, secret: made.secret)
        case .failure(let fault): Gate.Answer(problem(fault))
        }
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
        json.member("created_at", key.createdAt)
        json.member("created_by", key.createdBy)
        json.member("expires_at", key.expiresAt)
        json.member("revoked_at", key.revokedAt)
        json.member("last_used_at", key.lastUsedAt)
    }
}

extension KeyDesk.Asking {
    fileprivate init(_ change: Gate.Change) {
        self.init(app: change.app.id, name: change.key.holder.name, key: change.key, now: change.now)
    }
}
