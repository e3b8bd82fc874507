import Pipeline
import PurchaseModel
import Storage
import Verification

/// Looks, before a server opens to anybody, for what was delivered under another name or in another place: it would be
/// delivered again. In a sandbox nobody has paid for that.
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
                    + "all of them would be delivered again; call it \(old), or export \(old) and import that into \(new)"
            case .leftBehind(let folder, let database):
                "\(database) holds no purchase of production, and there is a ledger in \(folder): what it holds would be "
                    + "delivered again; export each app by the version that made it and import it there, or, to begin anew all "
                    + "the same, have data name another folder"
            }
        }
    }

    let settings: ServeSettings
    let place: LedgerPlace
    let verifier: Verifier

    /// So many pages of an app's purchases are looked through for one that was paid for: of a large sandbox no more.
    private static let pagesMax = 20

    /// Looks.
    ///
    /// - Returns: the apps that the ledger has purchases of, and that are not configured.
    /// - Throws: ``Fault``; `StoreFailure`.
    func look(into store: any Store) async throws -> [AppID] {
        let sold = try await store.read { reader throws(StoreFailure) in try self.sold(reader) }
        let left = try left(of: sold)
        if !sold.contains(where: \.isPaid), case .database(_, let shown) = place,
            await holdsPurchases(settings.data, orUnseen: sold.isEmpty)
        {
            throw Fault.leftBehind(folder: settings.data, database: shown)
        }
        return left
    }

    /// The apps of a ledger that are not configured.
    ///
    /// - Throws: ``Fault/renamed(_:from:to:)``, unless paid purchases are kept under the new id as well: then it has happened,
    ///   or what was to be taken over is there.
    func left(of sold: [Sold]) throws(Fault) -> [AppID] {
        let configured = Set(settings.apps.map(\.id))
        let left = sold.filter { !configured.contains($0.app) }
        for row in left {
            guard let now = concerned(by: row), !sold.contains(where: { $0.app == now.id && $0.isPaid }) else {
                continue
            }
            throw .renamed(now.bundleID, from: row.app, to: now.id)
        }
        return Set(left.map(\.app)).sorted()
    }

    /// An app of which a purchase is recorded.
    struct Sold: Hashable {
        let app: AppID
        /// Whether one is Apple's own of production, or may be: the ledger's row cannot be read.
        var isPaid = false
        /// Of one that was paid for of an app that is not configured: whose it is nothing else tells.
        var proof: [UInt8]?
    }

    /// Which apps have purchases.
    func sold(_ reader: any StoreReader) throws(StoreFailure) -> [Sold] {
        var found: [Sold] = []
        for app in try reader.knownApps() {
            if let sold = try sold(app, reader) { found.append(sold) }
        }
        return found
    }

    private func sold(_ app: AppID, _ reader: any StoreReader) throws(StoreFailure) -> Sold? {
        let isConfigured = settings.apps.contains { $0.id == app }
        var (place, found): (WalkPlace?, Sold?) = (nil, nil)
        for _ in 0..<Self.pagesMax {
            let page = try reader.walkTransactions(app: app, after: place, limit: WalkPage<WalkedTransaction>.limitMax)
            if !page.rows.isEmpty || !page.unreadable.isEmpty { found = found ?? Sold(app: app) }
            if !page.unreadable.isEmpty { found?.isPaid = true }
            for row in page.rows.map(\.recorded) where row.realm == Self.paid {
                found?.isPaid = true
                if !isConfigured { found?.proof = try proof(of: row.key, reader) }
                if isConfigured || found?.proof != nil { return found }
            }
            place = page.next
            if place == nil { break }
        }
        return found
    }

    private static let paid = Realm(environment: .production, isTestSigned: false)

    /// What cannot be read any more tells nothing, and is no reason to have the other apps stand still.
    private func proof(of key: TransactionKey, _ reader: any StoreReader) throws(StoreFailure) -> [UInt8]? {
        do throws(StoreFailure) {
            return try reader.evidence(of: key)?.proof
        } catch .broken {
            return nil
        }
    }

    /// The app of the configuration that such purchases would be delivered to once more.
    private func concerned(by row: Sold) -> AppPolicy? {
        guard row.isPaid else { return nil }
        let bundle = row.proof.flatMap { verifier.examine($0, expecting: Expectation()).report.claims.bundleID }
        return settings.apps.first { app in
            app.environments.contains(.production) && (app.id == row.app || app.bundleID.text == bundle)
        }
    }

    /// - Parameters:
    ///   - folder: where a ledger may be.
    ///   - isLikely: what counts where only the version of Assay that made it can say.
    /// - Returns: whether what is there would be delivered again.
    private func holdsPurchases(_ folder: String, orUnseen isLikely: Bool) async -> Bool {
        do throws(StoreOpenFailure) {
            guard let ledger = try await LedgerPlace.folder(folder).openToReadIfThere() else { return false }
            let sold = try? await ledger.read { reader throws(StoreFailure) in try self.sold(reader) }
            await ledger.close()
            return sold?.contains { concerned(by: $0) != nil } == true
        } catch .olderSchema {
            return isLikely && settings.apps.contains { $0.environments.contains(.production) }
        } catch {
            return false
        }
    }
}
