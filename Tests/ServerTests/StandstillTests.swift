import Crypto
import Foundation
import HTTP
import PurchaseModel
import Synchronization
import TestSupport
import Testing

/// After a standstill all that an import spread over time is due at once, and Apple takes her time with it.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .timeLimit(.minutes(15))) struct StandstillTests {
    private static let customers = 2_000_000_000_000_001

    @Test func whatACustomerPresentsDoesNotWaitBehindAnImport() async throws {
        try await ServerFolder.with { folder in
            let apple = try BusyApple(knows: "\(Self.customers)", as: Purchase.jws(1))
            try await apple.serve {
                let settings = try Self.configuration(folder, apple.port)
                try await Self.takeOldBooks(of: 100, folder, settings)
                // The last of them is due by now.
                try await Task.sleep(for: .seconds(5))
                let server = try await ServerProcess(["serve", "--config", settings])
                await apple.untilBusy(with: 12)
                let location = await server.post(Purchase.body("\(Self.customers)"))?.fields["location"] ?? ""
                #expect(try await Self.isDecided(location, server))
                // None of the others was answered meanwhile: those that are asked at once are few.
                #expect(apple.asked == 12)
                server.kill()
            }
        }
    }

    /// Numbers that another system has sold.
    private static func takeOldBooks(of count: Int, _ folder: ServerFolder, _ settings: String) async throws {
        let rows = (1...count).map { "\(customers + 1_000 + $0),ann,app_store\n" }
        let file = folder.path + "/old.csv"
        let text = "store_transaction_id,rc_original_app_user_id,store\n" + rows.joined()
        try ServerFolder.write(Array(text.utf8), file)
        let run = try await Program.run(["import", "--config", settings, "--app", "demo", "--from", "revenuecat", file])
        #expect(run.code == 0, "\(run.errorText)")
    }

    private static func isDecided(_ location: String, _ server: ServerProcess) async throws -> Bool {
        for _ in 0..<200 {
            if await server.get(location)?.result == "decided" { return true }
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    /// The folder's own, with somebody to ask.
    private static func configuration(_ folder: ServerFolder, _ port: UInt16) throws -> String {
        try folder.addAppleKey()
        let text = String(decoding: try Data(contentsOf: URL(filePath: folder.configuration)), as: UTF8.self)
        let (path, nobody) = (folder.path + "/asking.json", "\"http://127.0.0.1:1\"")
        let asking = text.replacing("\"api\":" + nobody, with: "\"api\":\"http://127.0.0.1:\(port)/production\"")
            .replacing("\"api_sandbox\":" + nobody, with: "\"api_sandbox\":\"http://127.0.0.1:\(port)/sandbox\"")
        try ServerFolder.write(Array(asking.utf8), path)
        return path
    }
}

/// Apple's side of Get Transaction Info, which knows one number, and answers about no other as long as the test lasts.
private final class BusyApple: Sendable {
    private let listener: HTTPListener
    private let asking: AsyncStream<Void>
    private let calls: Calls

    private final class Calls: Sendable {
        let count = Mutex(0)
    }

    var port: UInt16 { listener.port }
    /// How many calls are under way.
    var asked: Int { calls.count.withLock(\.self) }

    init(knows number: String, as jws: String) throws {
        let (asking, asked) = AsyncStream.makeStream(of: Void.self)
        let calls = Calls()
        (self.asking, self.calls) = (asking, calls)
        let handler = HTTPHandler { request in
            guard request.path.hasPrefix("/sandbox/inApps/v1/transactions/") else {
                let code = request.path.hasPrefix("/production/") ? "4040010" : "4040001"
                return HTTPResponse(.notFound, body: Array(#"{"errorCode":\#(code),"errorMessage":"none"}"#.utf8))
            }
            if request.path.hasSuffix("/" + number) {
                return HTTPResponse(.ok, body: Array(#"{"signedTransactionInfo":"\#(jws)"}"#.utf8))
            }
            calls.count.withLock { $0 += 1 }
            asked.yield()
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(50)) }
            return HTTPResponse(.serviceUnavailable)
        }
        listener = try HTTPListener(address: "127.0.0.1", port: 0, lanes: 1, handler: handler) { _ in }
    }

    func serve(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.listener.run() }
            do {
                defer { listener.stop() }
                try await body()
            }
            // What it never answered ends with it.
            group.cancelAll()
        }
    }

    func untilBusy(with calls: Int) async {
        var left = calls
        for await _ in asking {
            left -= 1
            if left == 0 { break }
        }
    }
}
