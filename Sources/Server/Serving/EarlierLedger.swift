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
                "\(database) holds no purchase, and the ledger in \(folder) does: all of them would be delivered again; "
                    + "to begin anew all the same, rename that folder"
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
        let sold = try await store.read { reader throws(StoreFailure) in try Self.sold(reader) }
        let configured = Set(settings.apps.map(\.id))
        let left = sold.filter { !configured.contains($0.app) }
        for row in left {
            guard let proof = row.proof,
                let bundle = verifier.examine(proof, expecting: Expectation()).report.claims.bundleID
            else { continue }
            let now = settings.apps.first { $0.bundleID.text == bundle && $0.environments.contains(row.environment) }
            if let now { throw Fault.renamed(now.bundleID, from: row.app, to: now.id) }
        }
        if sold.isEmpty, case .database(_, let shown) = place, await holdsPurchases(settings.data) {
            throw Fault.leftBehind(folder: settings.data, database: shown)
        }
        return left.map(\.app)
    }

    /// An app of which a purchase is recorded.
    private struct Sold {
        let app: AppID
        let environment: StoreEnvironment
        let proof: [UInt8]?
    }

    private static func sold(_ reader: any StoreReader) throws(StoreFailure) -> [Sold] {
        var found: [Sold] = []
        for app in try reader.knownApps() {
            guard let first = try reader.walkTransactions(app: app, after: nil, limit: 1).rows.first?.recorded else {
                continue
            }
            let proof = try reader.evidence(of: first.key)?.proof
            found.append(Sold(app: app, environment: first.realm.environment, proof: proof))
        }
        return found
    }

    /// Also where another version of Assay has to say what.
    private func holdsPurchases(_ folder: String) async -> Bool {
        do throws(StoreOpenFailure) {
            guard let ledger = try await LedgerPlace.folder(folder).openToReadIfThere() else { return false }
            let sold = try? await ledger.read { reader throws(StoreFailure) in try Self.sold(reader) }
            await ledger.close()
            return sold?.isEmpty == false
        } catch .olderSchema {
            return true
        } catch {
            return false
        }
    }
}
