import Pipeline
import PurchaseModel
import Storage
import Verification

/// Looks, before a server opens to anybody, for what was delivered under another name or in another place: it would be
/// delivered again.
struct EarlierLedger {
    /// Why a server does not serve a ledger.
    enum Fault: Error, Hashable {
        /// The ledger keeps an app's purchases under an id that the configuration does not name.
        case renamed(BundleID, from: AppID, to: AppID)
        /// The database holds no purchase, and the folder does.
        case leftBehind(folder: String, database: String)

        var sentence: String {
            switch self {
            case .renamed(let bundle, let old, let new):
                "the purchases of \(bundle) are kept under the app \(old), which the configuration calls \(new): under another id "
                    + "all of them would be delivered again; call it \(old)"
            case .leftBehind(let folder, let database):
                "\(database) holds no purchase, and there is a ledger in \(folder): what it holds would be delivered again; "
                    + "to begin anew all the same, have data name another folder"
            }
        }
    }

    let settings: ServeSettings
    let place: LedgerPlace
    let verifier: Verifier

    /// Looks.
    ///
    /// - Returns: the apps that the ledger has purchases of, and that are not configured.
    /// - Throws: ``Fault``; `StoreFailure`.
    func look(into store: any Store) async throws -> [AppID] {
        let sold = try await store.read { reader throws(StoreFailure) in try self.sold(reader) }
        let left = try left(of: sold)
        if sold.isEmpty, case .database(_, let shown) = place, await holdsPurchases(settings.data) {
            throw Fault.leftBehind(folder: settings.data, database: shown)
        }
        return left
    }

    /// The apps of a ledger that are not configured.
    ///
    /// - Throws: ``Fault/renamed(_:from:to:)``, unless purchases are kept under the new id as well: then it has happened, or what
    ///   was to be taken over is there.
    func left(of sold: [Sold]) throws(Fault) -> [AppID] {
        let configured = Set(settings.apps.map(\.id))
        let left = sold.filter { !configured.contains($0.app) }
        for row in left {
            guard let now = concerned(by: row), !sold.contains(where: { $0.app == now.id }) else { continue }
            throw .renamed(now.bundleID, from: row.app, to: now.id)
        }
        return Set(left.map(\.app)).sorted()
    }

    /// An app of which a purchase is recorded, on one side of the wall.
    struct Sold: Hashable {
        let app: AppID
        /// `nil` where the ledger's row cannot be read.
        let realm: Realm?
        /// Of an app that is not configured: whose it is nothing else tells.
        let proof: [UInt8]?
    }

    /// One purchase of each app, on each side of the wall as far as the first page shows.
    func sold(_ reader: any StoreReader) throws(StoreFailure) -> [Sold] {
        let configured = Set(settings.apps.map(\.id))
        var found: [Sold] = []
        for app in try reader.knownApps() {
            let page = try reader.walkTransactions(app: app, after: nil, limit: WalkPage<WalkedTransaction>.limitMax)
            if !page.unreadable.isEmpty { found.append(Sold(app: app, realm: nil, proof: nil)) }
            var realms: Set<Realm> = []
            for row in page.rows where realms.insert(row.recorded.realm).inserted {
                let proof = configured.contains(app) ? nil : try reader.evidence(of: row.recorded.key)?.proof
                found.append(Sold(app: app, realm: row.recorded.realm, proof: proof))
            }
        }
        return found
    }

    /// The app of the configuration that such a purchase would be delivered to once more.
    private func concerned(by row: Sold) -> AppPolicy? {
        let bundle = row.proof.flatMap { verifier.examine($0, expecting: Expectation()).report.claims.bundleID }
        return settings.apps.first { app in
            guard app.id == row.app || app.bundleID.text == bundle else { return false }
            guard let realm = row.realm else { return true }
            return app.environments.contains(realm.environment) && (app.acceptsTestSigned || !realm.isTestSigned)
        }
    }

    /// Also where another version of Assay has to say what.
    private func holdsPurchases(_ folder: String) async -> Bool {
        do throws(StoreOpenFailure) {
            guard let ledger = try await LedgerPlace.folder(folder).openToReadIfThere() else { return false }
            let sold = try? await ledger.read { reader throws(StoreFailure) in try self.sold(reader) }
            await ledger.close()
            return sold?.contains { concerned(by: $0) != nil } == true
        } catch .olderSchema {
            return true
        } catch {
            return false
        }
    }
}
