import Encoding
import HTTP

/// One row of Apple's table of endpoints. Retention Messaging and Advanced Commerce are others.
///
/// Source: Apple, *App Store Server API* 1.22, and *Identifying rate limits*.
package struct ServerEndpoint: Hashable, Sendable {
    /// A stable word for counters.
    package let name: String
    let method: HTTPMethod
    /// Each `{}` takes one segment.
    let path: String
    /// In production; the sandbox has a tenth. The groups have no figure of Apple's.
    package let perSecond: Int
    /// The status of an answer that is a yes.
    let success: HTTPStatus

    init(_ name: String, _ method: HTTPMethod, _ path: String, perSecond: Int, success: HTTPStatus = .ok) {
        self.name = name
        self.method = method
        self.path = path
        self.perSecond = perSecond
        self.success = success
    }

    /// The path with its segments, each percent-encoded.
    func path(_ segments: [String]) -> String {
        var rest = segments[...]
        var path = ""
        for part in self.path.utf8.split(separator: UInt8(ascii: "/")) {
            let isPlace = part.elementsEqual("{}".utf8)
            precondition(!isPlace || !rest.isEmpty, "\(name) needs another segment")
            let text = isPlace ? PercentCoding.encode(rest.removeFirst()) : String(decoding: Array(part), as: UTF8.self)
            path += "/" + text
        }
        precondition(rest.isEmpty, "\(name) has no place for \(rest.count) segments")
        return path
    }

    static let statuses = ServerEndpoint("statuses", .get, "/inApps/v1/subscriptions/{}", perSecond: 50)
    package static let history = ServerEndpoint("history", .get, "/inApps/v2/history/{}", perSecond: 50)
    package static let transaction = ServerEndpoint("transaction", .get, "/inApps/v1/transactions/{}", perSecond: 50)
    static let appTransaction = ServerEndpoint(
        "app_transaction",
        .get,
        "/inApps/v1/transactions/appTransactions/{}",
        perSecond: 50
    )
    static let setAccountToken = ServerEndpoint(
        "set_account_token",
        .put,
        "/inApps/v1/transactions/{}/appAccountToken",
        perSecond: 20
    )
    static let finish = ServerEndpoint("finish", .post, "/inApps/v1/transactions/{}/finish", perSecond: 50)
    static let consumption = ServerEndpoint(
        "consumption",
        .put,
        "/inApps/v2/transactions/consumption/{}",
        perSecond: 50,
        success: .accepted
    )
    static let firstConsumption = ServerEndpoint(
        "consumption_v1",
        .put,
        "/inApps/v1/transactions/consumption/{}",
        perSecond: 50,
        success: .accepted
    )
    static let order = ServerEndpoint("order", .get, "/inApps/v1/lookup/{}", perSecond: 10)
    package static let refunds = ServerEndpoint("refunds", .get, "/inApps/v2/refund/lookup/{}", perSecond: 10)
    static let extend = ServerEndpoint("extend", .put, "/inApps/v1/subscriptions/extend/{}", perSecond: 20)
    static let extendAll = ServerEndpoint("extend_all", .post, "/inApps/v1/subscriptions/extend/mass", perSecond: 1)
    static let extensionStatus = ServerEndpoint(
        "extension_status",
        .get,
        "/inApps/v1/subscriptions/extend/mass/{}/{}",
        perSecond: 1
    )
    static let requestTest = ServerEndpoint("request_test", .post, "/inApps/v1/notifications/test", perSecond: 1)
    static let testStatus = ServerEndpoint("test_status", .get, "/inApps/v1/notifications/test/{}", perSecond: 1)
    static let notifications = ServerEndpoint(
        "notification_history",
        .post,
        "/inApps/v1/notifications/history",
        perSecond: 50
    )
    static let currentGroups = ServerEndpoint("current_groups", .get, "/groups/v1/currentGroups/{}", perSecond: 50)
    static let group = ServerEndpoint("group", .get, "/groups/v1/group/{}", perSecond: 50)

    /// All of them, for whoever shows what may be asked.
    package static let all = [
        statuses, history, transaction, appTransaction, setAccountToken, finish, consumption, firstConsumption, order,
        refunds, extend, extendAll, extensionStatus, requestTest, testStatus, notifications, currentGroups, group,
    ]
}
