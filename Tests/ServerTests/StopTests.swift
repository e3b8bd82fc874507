import Crypto
import Encoding
import Foundation
import HTTP
import PurchaseModel
import Simulator
import Synchronization
import TestSupport
import Testing

/// A server is stopped while it asks Apple, who takes her time.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .timeLimit(.minutes(15))) struct StopTests {
    @Test func whatAppleAnswersDuringAStopIsRecorded() async throws {
        try await ServerFolder.with { folder in
            let apple = try SlowApple(answer: Purchase.jws(1))
            try await apple.serve {
                let settings = try Self.configuration(folder, apple.port)
                let server = try await ServerProcess(["serve", "--config", settings])
                let location = await server.post(Purchase.body("2000000000000001"))?.fields["location"] ?? ""
                #expect(await server.get(location)?.result == "pending")
                await apple.untilAsked()
                // On a thread of its own, since a stop waits for nobody here.
                let stopped = await Threads.run {
                    let stopped = ContinuousClock.now
                    server.stop()
                    // It is stopping for sure once nobody gets in any more.
                    while WireClient(port: server.port)?.get("/livez") != nil { Thread.sleep(forTimeInterval: 0.02) }
                    apple.answerNow()
                    return stopped
                }
                let answered = try #require(await apple.untilAnswered())
                #expect(await server.exitCode() == 0)
                #expect(!server.errors.text.contains("cancelled"), "\(server.errors.text)")
                let next = try await ServerProcess(["serve", "--config", settings])
                // A stop lets jobs go on for ten seconds. Where a busy machine took that long, the next server asks anew.
                if stopped.duration(to: answered) < .seconds(5) {
                    #expect(await next.get(location)?.result == "decided")
                } else {
                    #expect(try await Self.isDecided(location, next))
                }
                let listed = await next.get("/v1/customers/customer-1/transactions")
                #expect(listed?.first("transaction_id") == "2000000000000001")
            }
        }
    }

    /// Patience ends, and with it the server; the next one asks anew. That others may ask at once, `CutOffTests` shows.
    @Test func aStopEndsThoughAppleNeverAnswers() async throws {
        try await ServerFolder.with { folder in
            let apple = try SlowApple(answer: Purchase.jws(1))
            try await apple.serve {
                let settings = try Self.configuration(folder, apple.port)
                let server = try await ServerProcess(["serve", "--config", settings])
                let location = await server.post(Purchase.body("2000000000000001"))?.fields["location"] ?? ""
                await apple.untilAsked()
                server.stop()
                #expect(await server.exitCode() == 0)
                apple.answerNow()
                let next = try await ServerProcess(["serve", "--config", settings])
                #expect(try await Self.isDecided(location, next))
            }
        }
    }

    private static func isDecided(_ location: String, _ server: ServerProcess) async throws -> Bool {
        var result = await server.get(location)?.result
        for _ in 0..<300 where result == "pending" {
            try await Task.sleep(for: .milliseconds(100))
            result = await server.get(location)?.result
        }
        return result == "decided"
    }

    /// The folder's own, with somebody to ask.
    private static func configuration(_ folder: ServerFolder, _ port: UInt16) throws -> String {
        let path = folder.path + "/asking.json"
        try ServerFolder.write(try PrivateKey(generate: .p256).pem(), folder.path + "/apple.p8", isSecret: true)
        let text = """
            {"profile": "development", "listen": "127.0.0.1:0", "data": "\(folder.data)",
             "trust": {"roots": "\(folder.roots)"},
             "keys": [{"name": "shop", "app": "demo", "secret_file": "\(folder.path)/key"}],
             "apps": [{"id": "demo", "bundle_id": "\(TestAuthority.bundleID.text)", "environments": ["sandbox"],
               "accept_test_signed": true,
               "app_store": {"issuer_id": "57246542-96fe-1a63-e053-0824d011072a", "key_id": "ABCDEFGHIJ",
                 "private_key_file": "\(folder.path)/apple.p8",
                 "hosts": {"api": "http://127.0.0.1:\(port)/production",
                   "api_sandbox": "http://127.0.0.1:\(port)/sandbox"}}}]}
            """
        try ServerFolder.write(Array(text.utf8), path)
        return path
    }
}

/// Apple's side of Get Transaction Info, which lets wait as long as the test wishes.
private final class SlowApple: Sendable {
    private final class Door: Sendable {
        let isOpen = Mutex(false)
    }

    private let listener: HTTPListener
    private let asked: AsyncStream<Void>
    private let answered: AsyncStream<ContinuousClock.Instant>
    private let door: Door

    var port: UInt16 { listener.port }

    init(answer jws: String) throws {
        let (asked, asking) = AsyncStream.makeStream(of: Void.self)
        let (answered, answering) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
        let door = Door()
        (self.asked, self.answered, self.door) = (asked, answered, door)
        let handler = HTTPHandler { request in
            guard request.path.hasPrefix("/sandbox/inApps/v1/transactions/") else {
                let code = request.path.hasPrefix("/production/") ? "4040010" : "4040001"
                return HTTPResponse(.notFound, body: Array(#"{"errorCode":\#(code),"errorMessage":"none"}"#.utf8))
            }
            asking.yield()
            while !door.isOpen.withLock(\.self), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
            answering.yield(.now)
            return HTTPResponse(.ok, body: Array(#"{"signedTransactionInfo":"\#(jws)"}"#.utf8))
        }
        listener = try HTTPListener(address: "127.0.0.1", port: 0, lanes: 1, handler: handler) { _ in }
    }

    func serve(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.listener.run() }
            defer { listener.stop() }
            defer { answerNow() }
            try await body()
        }
    }

    func untilAsked() async {
        for await _ in asked { break }
    }

    /// - Returns: when it answered first.
    func untilAnswered() async -> ContinuousClock.Instant? {
        for await moment in answered { return moment }
        return nil
    }

    func answerNow() { door.isOpen.withLock { $0 = true } }
}
