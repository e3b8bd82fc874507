import Encoding
import HTTP
import PurchaseModel
import Simulator
import Synchronization
import TestSupport
import Testing

/// The simulated App Store on a real socket, in both directions.
struct NoticeWireTests {
    @Test func aNotificationComesOverTheWireAndItsReceiptGoesBack() async throws {
        let received = Mutex<[HTTPRequest]>([])
        let shop = HTTPHandler { request in
            received.withLock { $0.append(request) }
            return HTTPResponse(.ok)
        }
        try await serving(shop) { shopPort in
            var life = StoreLife()
            var app = DemoCatalogue.app()
            app.productionNotifications = NotificationTarget(
                url: "http://127.0.0.1:\(shopPort)/hook?a=b",
                version: .one
            )
            life.store.set(app)
            try life.buy("pro.yearly")
            let desk = ReceiptDesk(life)
            // The shop shares its threads with every other test.
            var settings = CallerSettings()
            settings.timeout = .seconds(600)
            let caller = CurlCaller(settings).caller
            let sender = try NoticeSender(desk.simulator, caller: caller)
            await sender.deliverDue()
            #expect(sender.messages.map { $0.attempts.map(\.result) } == [[.success]])
            let request = try #require(received.withLock { $0.first })
            #expect(request.method == .post)
            #expect(request.path == "/hook" && request.query == "a=b")
            #expect(request.fields["Content-Type"] == "application/json")
            let unified = try #require(try JSONDocument(request.body).root.object?["unified_receipt"]?.object)
            let text = try #require(unified.text("latest_receipt"))
            try await serving(Router(desk.endpoint.routes).handler) { port in
                let receipt = try Base64.decode(Array(text.utf8), .standard, padding: .required)
                var call = HTTPCall(method: .post, url: "http://127.0.0.1:\(port)/verifyReceipt")
                call.fields["Host"] = "buy.itunes.apple.com"
                call.body = ReceiptDesk.body(receipt)
                let answer = try await caller.send(call)
                #expect(try JSONDocument(answer.body).root.object?.status == 0)
            }
        }
    }

    /// Listens while `body` runs.
    private func serving(
        _ handler: HTTPHandler,
        _ body: @Sendable (UInt16) async throws -> Void
    ) async throws {
        let listener = try HTTPListener(address: "127.0.0.1", port: 0, lanes: 2, handler: handler) { _ in }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await listener.run() }
            defer { listener.stop() }
            try await body(listener.port)
        }
    }
}
