import HTTP
import Pipeline
import PurchaseModel
import Storage

/// What admins do about keys: by the same functions as the API's.
struct KeyActions: Sendable {
    let parts: DashboardParts

    private var pages: KeyPages { KeyPages(parts: parts) }
    private var desk: KeyDesk { KeyDesk(ring: parts.server.keys) }

    func make(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let app = AppID(visit.fields["app"]), parts.apps.contains(app) else { return Notices.malformed() }
        let wish: KeyWish
        do throws(KeyWish.Fault) { wish = try KeyForm.wish(visit.fields) } catch {
            return try await pages.list(visit, Refusal(.unprocessableContent, "\(error.field): \(error.detail)"))
        }
        let (desk, asking) = (desk, Self.asking(visit, app))
        let carried = try await visit.carryOut(in: parts.store) {
            write throws(StoreFailure) -> Visit.Deed<KeyDesk.Made> in
            switch try desk.create(wish, asking, in: write) {
            case .failure(let fault): return .failure(Self.refusal(fault))
            case .success(let made):
                return .success((made, visit.action("key_made", of: made.row.id.text, made.row.sentence)))
            }
        }
        switch carried {
        case .refused(let refusal): return try await pages.list(visit, refusal)
        case .again: return try await pages.list(visit, Self.again)
        case .done(let made): return await show(made, visit)
        }
    }

    func rotate(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let overlap = Int64(visit.fields["overlap"]), KeyDesk.overlapRange.contains(overlap) else {
            return Notices.malformed()
        }
        let carried = try await change(visit) { key, asking, write throws(StoreFailure) -> Visit.Deed<KeyDesk.Made> in
            let result = try KeyDesk.rotate(key.id, version: key.version, overlap: overlap, asking, in: write)
            switch result {
            case .failure(let fault): return .failure(Self.refusal(fault))
            case .success(let made):
                return .success(
                    (
                        made,
                        visit.action(
                            "key_rotated",
                            of: made.row.id.text,
                            "\(made.row.sentence); \(key.id.text) ends after \(overlap) s"
                        )
                    )
                )
            }
        }
        switch carried {
        case .refused(let refusal): return try await fault(visit, refusal)
        case .again: return try await fault(visit, Self.again)
        case .done(let made): return await show(made, visit)
        }
    }

    func revoke(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let carried = try await change(visit) { key, asking, write throws(StoreFailure) -> Visit.Deed<APIKeyRow> in
            switch try KeyDesk.revoke(key.id, version: key.version, asking, in: write) {
            case .failure(let fault): return .failure(Self.refusal(fault))
            case .success(let row): return .success((row, visit.action("key_revoked", of: row.id.text, row.sentence)))
            }
        }
        if case .refused(let refusal) = carried { return try await fault(visit, refusal) }
        await reload(visit)
        guard let id = APIKeyID(visit.fields["id"]) else { return Notices.malformed() }
        return Notices.leave(for: KeyPages.address(id))
    }

    /// A key as the form saw it.
    private struct Seen: Sendable {
        let id: APIKeyID
        let version: Int64
    }

    private func change<Value: Sendable>(
        _ visit: Visit,
        _ body:
            @escaping @Sendable (Seen, KeyDesk.Asking, any StoreTransaction) throws(StoreFailure) -> Visit.Deed<Value>
    ) async throws(StoreFailure) -> Carried<Value> {
        guard let id = APIKeyID(visit.fields["id"]), let version = Int64(visit.fields["version"]) else {
            return .refused(.incomplete)
        }
        let apps = parts.apps
        return try await visit.carryOut(in: parts.store) { write throws(StoreFailure) -> Visit.Deed<Value> in
            guard let key = try write.apiKey(id), apps.contains(key.app) else {
                return .failure(Self.refusal(.unknown))
            }
            return try body(Seen(id: id, version: version), Self.asking(visit, key.app), write)
        }
    }

    private static func asking(_ visit: Visit, _ app: AppID) -> KeyDesk.Asking {
        KeyDesk.Asking(app: app, name: visit.actor, now: visit.now)
    }

    /// It is made: whatever fails from here on, this is the only answer that has the secret.
    private func show(_ made: KeyDesk.Made, _ visit: Visit) async -> HTTPResponse {
        await reload(visit)
        do throws(StoreFailure) {
            return try await pages.page(visit, made.row.id.text, KeyPages.Note(secret: made.secret))
        } catch {
            return Notices.secret(made.secret, visit)
        }
    }

    /// Without it this server knows of the change within seconds, as others do.
    private func reload(_ visit: Visit) async {
        try? await parts.server.keys.reload(from: parts.store, at: visit.now)
    }

    private func fault(_ visit: Visit, _ refusal: Refusal) async throws(StoreFailure) -> HTTPResponse {
        try await pages.page(visit, visit.fields["id"], KeyPages.Note(refusal: refusal))
    }

    private static let again = Refusal(
        .conflict,
        "It was done, and its answer is the only one that showed the key. If it was lost, make a new secret."
    )

    private static func refusal(_ fault: KeyDesk.Fault) -> Refusal {
        switch fault {
        case .unknown: Refusal(.notFound, "There is no such key in force.")
        case .changed: .changed
        case .nameTaken: Refusal(.conflict, "Another key of the app has this name.")
        case .tooMany: Refusal(.conflict, "An app has at most \(KeyDesk.inForceMax) keys that are in force.")
        case .moreThanOwn: Refusal(.forbidden, "No key gives more than it has.")
        }
    }
}
