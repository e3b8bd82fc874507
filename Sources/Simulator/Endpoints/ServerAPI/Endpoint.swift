import HTTP

/// One row of Apple's table of endpoints.
struct Endpoint: Sendable {
    typealias Answer = @Sendable (ServerAPI) -> (MerchantCall) throws(ServerAPIError) -> HTTPResponse

    let method: HTTPMethod
    let path: String
    /// Apple's limit in production, in requests a second; the sandbox has a tenth of it.
    let perSecond: Int
    let answer: Answer

    init(_ method: HTTPMethod, _ path: String, perSecond: Int, _ answer: @escaping Answer) {
        self.method = method
        self.path = path
        self.perSecond = perSecond
        self.answer = answer
    }

    var name: String { method.rawValue + " " + path }

    static let all = purchases + merchandise + notifications + groups + elsewhere

    private static let purchases = [
        Endpoint(.get, "/inApps/v1/subscriptions/{id}", perSecond: 50, ServerAPI.statuses),
        Endpoint(.get, "/inApps/v2/history/{id}", perSecond: 50, ServerAPI.history),
        Endpoint(.get, "/inApps/v1/history/{id}", perSecond: 50, ServerAPI.firstHistory),
        Endpoint(.get, "/inApps/v1/transactions/{id}", perSecond: 50, ServerAPI.transaction),
        Endpoint(.get, "/inApps/v1/transactions/appTransactions/{id}", perSecond: 50, ServerAPI.appTransaction),
        Endpoint(.put, "/inApps/v1/transactions/{id}/appAccountToken", perSecond: 20, ServerAPI.setAccountToken),
        Endpoint(.post, "/inApps/v1/transactions/{id}/finish", perSecond: 50, ServerAPI.finish),
        Endpoint(.put, "/inApps/v2/transactions/consumption/{id}", perSecond: 50, ServerAPI.consumption),
        Endpoint(.put, "/inApps/v1/transactions/consumption/{id}", perSecond: 50, ServerAPI.firstConsumption),
        Endpoint(.get, "/inApps/v1/lookup/{order}", perSecond: 10, ServerAPI.lookUpOrder),
        Endpoint(.get, "/inApps/v2/refund/lookup/{id}", perSecond: 10, ServerAPI.refunds),
        Endpoint(.get, "/inApps/v1/refund/lookup/{id}", perSecond: 10, ServerAPI.firstRefunds),
    ]

    private static let merchandise = [
        Endpoint(.put, "/inApps/v1/subscriptions/extend/{id}", perSecond: 20, ServerAPI.extend),
        Endpoint(.post, "/inApps/v1/subscriptions/extend/mass", perSecond: 1, ServerAPI.extendAll),
        Endpoint(
            .get,
            "/inApps/v1/subscriptions/extend/mass/{product}/{request}",
            perSecond: 1,
            ServerAPI.extensionStatus
        ),
    ]

    private static let notifications = [
        Endpoint(.post, "/inApps/v1/notifications/test", perSecond: 1, ServerAPI.requestTest),
        Endpoint(.get, "/inApps/v1/notifications/test/{token}", perSecond: 1, ServerAPI.testStatus),
        Endpoint(.post, "/inApps/v1/notifications/history", perSecond: 50, ServerAPI.notificationHistory),
    ]

    /// Apple names no limits for these.
    private static let groups = [
        Endpoint(.get, "/groups/v1/currentGroups/{id}", perSecond: 50, ServerAPI.currentGroups),
        Endpoint(.get, "/groups/v1/group/{group}", perSecond: 50, ServerAPI.group),
    ]

    /// Retention Messaging and Advanced Commerce: a token is checked, then ``ServerAPIError/notSimulated`` is answered.
    private static let elsewhere: [Endpoint] = {
        let messaging = "/inApps/v1/messaging/"
        let commerce = "/advancedCommerce/v1/"
        let paths: [(HTTPMethod, String)] = [
            (.put, messaging + "image/{id}"), (.delete, messaging + "image/{id}"), (.get, messaging + "image/list"),
            (.put, messaging + "message/{id}"), (.delete, messaging + "message/{id}"),
            (.get, messaging + "message/list"), (.put, messaging + "default/{product}/{locale}"),
            (.get, messaging + "default/{product}/{locale}"), (.delete, messaging + "default/{product}/{locale}"),
            (.put, messaging + "realtime/url"), (.get, messaging + "realtime/url"),
            (.delete, messaging + "realtime/url"), (.post, messaging + "performanceTest"),
            (.get, messaging + "performanceTest/result/{request}"), (.post, commerce + "subscription/cancel/{id}"),
            (.post, commerce + "subscription/changeMetadata/{id}"), (.post, commerce + "subscription/changePrice/{id}"),
            (.post, commerce + "subscription/migrate/{id}"), (.post, commerce + "subscription/revoke/{id}"),
            (.post, commerce + "transaction/requestRefund/{id}"),
        ]
        return paths.map { method, path in
            Endpoint(method, path, perSecond: 1, ServerAPI.refuse)
        }
    }()
}

extension ServerAPI {
    func refuse(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        throw .notSimulated
    }
}
