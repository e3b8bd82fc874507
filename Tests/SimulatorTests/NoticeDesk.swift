import Encoding
import HTTP
import PurchaseModel
import Simulator
import Synchronization
import TestSupport
import Testing

/// A store whose notices are sent to a server of the test's, driven by hand.
struct NoticeDesk {
    let simulator: AppStoreSimulator
    let sender: NoticeSender
    let inbox: Inbox

    /// What the server was sent, and what it says.
    final class Inbox: Sendable {
        private let calls = Mutex<[HTTPCall]>([])
        private let answers: @Sendable (Int) -> Result<HTTPStatus, HTTPCallFailure>

        /// `answers` gets the call's number, 0 for the first.
        init(_ answers: @escaping @Sendable (Int) -> Result<HTTPStatus, HTTPCallFailure>) {
            self.answers = answers
        }

        var all: [HTTPCall] { calls.withLock { $0 } }

        var caller: HTTPCaller {
            HTTPCaller { [self] call async throws(HTTPCallFailure) in
                let number = calls.withLock { calls in
                    calls.append(call)
                    return calls.count - 1
                }
                return HTTPResponse(try answers(number).get())
            }
        }
    }

    init(
        _ life: StoreLife = StoreLife(),
        answers: @escaping @Sendable (Int) -> Result<HTTPStatus, HTTPCallFailure> = { _ in .success(.ok) },
        disturbance: @escaping @Sendable (NoticeMessage, Int) -> Disturbance = { _, _ in .none }
    ) throws {
        simulator = AppStoreSimulator(
            life.store,
            authority: TestAuthority.shared,
            wallClock: ManualClock(StoreLife.start)
        )
        inbox = Inbox(answers)
        sender = try NoticeSender(simulator, caller: inbox.caller, disturbance: disturbance)
    }

    /// Sends what is due after so many hours more.
    func hours(_ count: Int) async {
        simulator.change { $0.advance(to: $0.steadyNow.advanced(by: .seconds(count * 3_600))) }
        await sender.deliverDue()
    }

    /// The bodies as JSON.
    func received() throws -> [JSONObject] {
        try inbox.all.map { try #require(try JSONDocument($0.body).root.object) }
    }

    /// The payloads of the signed ones, not verified.
    func payloads() throws -> [JSONObject] {
        try received().map { try NoticeDesk.payload(of: #require($0.text("signedPayload"))) }
    }

    static func payload(of text: String) throws -> JSONObject {
        let middle = try #require(text.utf8.split(separator: UInt8(ascii: ".")).dropFirst().first)
        return try #require(try JSONDocument(Base64.decode(Array(middle), .url, padding: .forbidden)).root.object)
    }
}

extension StoreLife {
    /// Sends in the older of Apple's two formats.
    mutating func useOldNotices() throws {
        var app = try #require(store.apps[self.app])
        app.productionNotifications?.version = .one
        app.sandboxNotifications?.version = .one
        store.set(app)
    }
}

/// Counts up from one.
final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
