import Encoding
import HTTP
import PurchaseModel

// Get Notification History.
extension ServerAPI {
    /// Apple's.
    private static let noticesMax = 20

    /// Pages follow the order of sending, which no later attempt changes.
    func notificationHistory(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        var filter = try NotificationFilter(call.body())
        let scope =
            ["notices", call.app.bundleID.text, call.environment.rawValue]
            + filter.scope(endingAt: filter.endDate)
        let place = try noticePlace(call, scope)
        let customer = try simulator.find { store throws(ServerAPIError) -> String? in
            try filter.fit(to: store.now, in: call.environment)
            guard let id = filter.id else { return nil }
            guard let owner = store.owner(ofAny: id, for: call) else { throw .transactionNotFound }
            return owner.customer
        }
        let rest = sent.all(call.app.bundleID, call.environment)
            .filter { sent in
                (sent.isLost || !sent.attempts.isEmpty) && filter.takes(sent, customer: customer)
                    && (place.map { $0 < Self.order(sent) } ?? true)
            }
            .sorted { Self.order($0) < Self.order($1) }
        let page = rest.prefix(Self.noticesMax)
        let end = page.last.map(Self.order) ?? place ?? (0, 0)
        let token = tokens.text(
            PageTokens.Place(first: end.0, second: end.1, issuedAt: simulator.wallTime),
            scope: scope
        )
        return .answer { json in
            json.array("notificationHistory") { list in
                for sent in page { list.object { json in Self.write(sent, into: &json) } }
            }
            json.member("hasMore", rest.count > page.count)
            json.member("paginationToken", token)
        }
    }

    private func noticePlace(_ call: MerchantCall, _ scope: [String]) throws(ServerAPIError) -> (Int64, Int64)? {
        guard let text = try call.query.one("paginationToken", else: .invalidPaginationToken) else { return nil }
        guard let place = tokens.place(text, scope: scope) else { throw .invalidPaginationToken }
        guard simulator.wallTime < place.issuedAt.advanced(by: options.paginationLifetime) else {
            throw .paginationTokenExpired
        }
        return (place.first, place.second)
    }

    /// By the moment of sending; several at one moment in the order in which they were made.
    private static func order(_ sent: SentNotice) -> (Int64, Int64) {
        (sent.sentAt.milliseconds, Int64(sent.number))
    }
}
