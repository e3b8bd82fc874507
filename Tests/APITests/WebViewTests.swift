import API
import Crypto
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing
import TestSupport

/// cordova-plugin-purchase asks by XMLHttpRequest from a web view, whose origin is the app's own: a browser sends
/// that, and shows the answer, only if the server says so.
@Suite struct WebViewTests {
    private static let origin: HTTPFields = ["Origin": "capacitor://localhost"]

    private static func preflight(_ path: String) -> HTTPRequest {
        var fields = origin
        fields["Access-Control-Request-Method"] = "POST"
        fields["Access-Control-Request-Headers"] = "authorization,content-type"
        return HTTPRequest(method: .options, path: path, fields: fields)
    }

    private static func post(
        _ path: String,
        key: String? = TestHouse.key,
        type: String = "application/json;charset=UTF-8",
        body: String = "{}"
    ) -> HTTPRequest {
        var fields = origin
        fields["Content-Type"] = type
        if let key { fields["Authorization"] = "Bearer \(key)" }
        return HTTPRequest(method: .post, path: path, fields: fields, body: Array(body.utf8))
    }

    private static func isOpen(_ answer: HTTPResponse) -> Bool {
        answer.fields.all("Access-Control-Allow-Origin") == ["*"]
            && answer.fields.all("Access-Control-Expose-Headers") == ["Retry-After"]
            && answer.fields["Access-Control-Allow-Credentials"] == nil
    }

    /// No key is with it, so that it costs none of what a key may ask, and reads no ledger.
    @Test(arguments: ["/validator", "/validator/pk_live_nobody"])
    func aBrowserMayPost(path: String) async throws {
        let store = MemoryStore()
        try await TestHouse(store: store, requestsPerSecond: 1).open { house in
            await store.close()
            for _ in 0..<100 {
                let answer = await house.router.respond(to: Self.preflight(path))
                #expect(answer.status == .noContent && answer.body.isEmpty && Self.isOpen(answer))
                #expect(answer.fields["Access-Control-Allow-Methods"] == "POST")
                let sent = "Authorization, Content-Type, Assay-Customer-Token"
                #expect(answer.fields["Access-Control-Allow-Headers"] == sent)
                #expect(answer.fields["Access-Control-Max-Age"] == "86400")
            }
            #expect(await house.router.respond(to: Self.post("/validator")).status != .tooManyRequests)
        }
    }

    /// Else a web view sees no status, and takes what passes for a server that is not there.
    @Test func everyAnswerIsReadByAnyOrigin() async throws {
        let app = try #require(AppID("demo"))
        let keys = KeyRing([
            Digest.sha256(Array(TestHouse.key.utf8)): APIKey(KeyRing.Holder(name: "shop", app: app)),
            Digest.sha256(Array("none".utf8)): APIKey(KeyRing.Holder(name: "none", app: app), scopes: []),
        ])
        try await TestHouse(requestsPerSecond: 3, keys: keys).open { house in
            let number = #"{"transaction": {"type": "ios-appstore", "appStoreReceipt": "170000029449420"}}"#
            let rows: [(HTTPRequest, HTTPStatus)] = [
                (Self.post("/validator"), .ok), (Self.post("/validator", key: nil), .unauthorized),
                (Self.post("/validator", key: "none"), .forbidden), (Self.post("/validator/nobody"), .notFound),
                (Self.post("/validator", type: "text/plain"), .unsupportedMediaType),
                (Self.post("/validator", body: number), .serviceUnavailable),
            ]
            for (request, status) in rows {
                let answer = await house.router.respond(to: request)
                #expect(answer.status == status && Self.isOpen(answer), "\(status)")
            }
            var last = HTTPResponse(.ok)
            for _ in 0..<6 { last = await house.router.respond(to: Self.post("/validator")) }
            #expect(last.status == .tooManyRequests && last.fields["Retry-After"] != nil && Self.isOpen(last))
        }
    }

    /// Pages of others have no business with the rest.
    @Test func noOtherRouteIsForBrowsersOfOtherOrigins() async throws {
        let house = try TestHouse()
        for route in house.router.routes where !route.template.hasPrefix("/validator") {
            #expect(route.method != .options)
            let path = route.template.replacing(/\{\w+\}/, with: "1")
            for request in [Self.preflight(path), HTTPRequest(method: route.method, path: path, fields: Self.origin)] {
                let answer = await house.router.respond(to: request)
                #expect(answer.fields["Access-Control-Allow-Origin"] == nil, "\(route)")
            }
        }
    }
}
