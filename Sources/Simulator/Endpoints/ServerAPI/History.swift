import Encoding
import HTTP
import PurchaseModel

/// A part of a listing, and where it stopped.
struct HistoryPage: Sendable {
    var transactions: [SoldTransaction] = []
    var hasMore = false
    var revision: String

    /// Apple's.
    static let sizeMax = 20
    /// What Apple answers when there has been nothing yet; as a question it is the beginning.
    static let beginning = "0"
}

// Get Transaction History, in both versions.
extension ServerAPI {
    func history(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        try history(call, isFirstVersion: false)
    }

    func firstHistory(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        try history(call, isFirstVersion: true)
    }

    /// Pages follow the order of changes, so a record that changes while somebody reads comes again, later.
    private func history(_ call: MerchantCall, isFirstVersion: Bool) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id()
        let filter = try HistoryFilter(call.query)
        let revision = try call.query.one("revision", else: .invalidRequestRevision)
        let page = try simulator.find { store throws(ServerAPIError) in
            guard let owner = store.owner(ofAny: id, for: call) else { throw .transactionNotFound }
            let scope = ["history", owner.app.text, owner.customer] + filter.scope
            let place = try self.place(revision, scope)
            let found = store.transactions(of: owner).filter { sold in
                filter.takes(sold) && !(isFirstVersion && Self.isForgotten(sold))
            }
            .sorted { filter.isDescending != ($0.changeNumber < $1.changeNumber) }
            .drop { sold in
                guard let place else { return false }
                return filter.isDescending ? sold.changeNumber >= place.first : sold.changeNumber <= place.first
            }
            return self.page(found, revision, scope) { PageTokens.Place(first: $0.changeNumber) }
        }
        let texts = try sign(page.transactions, call)
        return .answer { json in
            json.member("revision", page.revision)
            json.member("hasMore", page.hasMore)
            json.member("bundleId", call.app.bundleID.text)
            json.member("appAppleId", call.appleID)
            json.member("environment", call.environmentName)
            json.texts("signedTransactions", texts)
        }
    }

    /// Finished consumables are not in the first version's history, unless Apple took them back.
    private static func isForgotten(_ sold: SoldTransaction) -> Bool {
        sold.fact.kind == .consumable && sold.isFinished && !sold.isRevoked
    }

    /// `nil` for the beginning.
    func place(_ revision: String?, _ scope: [String]) throws(ServerAPIError) -> PageTokens.Place? {
        guard let revision, revision != HistoryPage.beginning else { return nil }
        guard let place = tokens.place(revision, scope: scope) else { throw .invalidRequestRevision }
        return place
    }

    /// The beginning of what is left. A page without records keeps its place.
    func page(
        _ rest: ArraySlice<SoldTransaction>,
        _ revision: String?,
        _ scope: [String],
        _ place: (SoldTransaction) -> PageTokens.Place
    ) -> HistoryPage {
        guard let last = rest.prefix(HistoryPage.sizeMax).last else {
            return HistoryPage(revision: revision ?? HistoryPage.beginning)
        }
        return HistoryPage(
            transactions: Array(rest.prefix(HistoryPage.sizeMax)),
            hasMore: rest.count > HistoryPage.sizeMax,
            revision: tokens.text(place(last), scope: scope)
        )
    }
}
