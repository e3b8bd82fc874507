import Encoding
import Foundation
import HTTP
import Synchronization
import TestSupport
import Testing

/// Commands between which and the server something stands that loses answers.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .timeLimit(.minutes(15))) struct LostAnswerTests {
    /// A proxy whose server was away for a moment.
    private static let badGateway = HTTPResponse(
        HTTPStatus(rawValue: 502),
        fields: ["Content-Type": "text/html"],
        body: Array("<h1>Bad Gateway</h1>".utf8)
    )

    private static func problem(_ status: Int, _ code: String, after seconds: Int? = nil) -> HTTPResponse {
        var fields: HTTPFields = ["Content-Type": "application/json"]
        if let seconds { fields["Retry-After"] = "\(seconds)" }
        let body = Array(#"{"code":"\#(code)","detail":"Not now."}"#.utf8)
        return HTTPResponse(HTTPStatus(rawValue: status), fields: fields, body: body)
    }

    private static func request(_ state: String) -> HTTPResponse {
        let body = Array(#"{"id":"ask_1","kind":"extend","state":"\#(state)"}"#.utf8)
        return HTTPResponse(.ok, fields: ["Content-Type": "application/json"], body: body)
    }

    private static func run(_ words: [String], at port: UInt16) async throws -> Program.Run {
        try await TemporaryFolder.with { folder in
            try ServerFolder.write(Array(ServerFolder.key.utf8), folder + "/key", isSecret: true)
            return try await Program.run(
                words + ["--server", "http://127.0.0.1:\(port)", "--key-file", folder + "/key"],
                // The gateway shares the cores with all other tests.
                within: 240
            )
        }
    }

    /// What a command says under which name it was sent.
    private static func key(_ run: Program.Run) throws -> String {
        String(try #require(run.errorText.firstMatch(of: /--idempotency-key ([!-~]+)/), "\(run.errorText)").1)
    }

    /// A server that has a key for Apple, who is away.
    private static func serve(_ body: (ServerProcess) async throws -> Void) async throws {
        try await ServerFolder.with { folder in
            try folder.addAppleKey()
            let server = try await folder.serve()
            try await body(server)
            server.stop()
            #expect(await server.exitCode() == 0)
        }
    }

    /// Each row: the question, and where the server lists what was asked.
    @Test func theSameCommandUnderTheNameThatItToldIsDoneOnce() async throws {
        let side = ["--environment", "sandbox"]
        let asked: (path: String, member: String) = ("/v1/apple/requests", "requests")
        let rows: [(words: [String], place: (path: String, member: String))] = [
            (["apple", "extend-all", "pro", "--days", "3", "--wait", "0"] + side, asked),
            (["apple", "extend", "7", "--days", "3", "--wait", "0"] + side, asked),
            (
                ["customers", "adjust", "anna", "coins", "--amount", "50", "--test-signed"] + side,
                ("/v1/customers/anna/balances/coins/postings?test_signed=true&environment=sandbox", "postings")
            ),
        ]
        try await Self.serve { server in
            let gate = try Gateway(to: server.port)
            try await gate.serve {
                var counts: [String: Int] = [:]
                for (words, place) in rows {
                    gate.answer { call, _ in call.method == .post ? Self.badGateway : nil }
                    let lost = try await Self.run(words, at: gate.port)
                    #expect(lost.code == 2, "\(lost.errorText)")
                    let key = try Self.key(lost)
                    gate.answer { _, _ in nil }
                    let again = try await Self.run(words + ["--idempotency-key", key], at: gate.port)
                    #expect(again.code == (words[0] == "apple" ? 3 : 0), "\(again.errorText)")
                    counts[place.path, default: 0] += 1
                    let listed = await server.get(place.path)?.json?[place.member]?.array?.count { _ in true }
                    #expect(listed == counts[place.path], "\(words)")
                    // Another day it is another change.
                    let other = try await Self.run(words, at: gate.port)
                    #expect(other.code == again.code)
                    counts[place.path, default: 0] += 1
                    let more = await server.get(place.path)?.json?[place.member]?.array?.count { _ in true }
                    #expect(more == counts[place.path], "\(words)")
                }
            }
        }
    }

    /// Each row: what is answered to the change, the exit code, and whether it may have been done all the same.
    @Test func onlyWhatMayBeDoneIsToBeRepeatedUnderItsName() async throws {
        let rows = [
            (Self.badGateway, Int32(2), true), (Self.problem(503, "database_unreachable", after: 1), 2, true),
            (Self.problem(500, "internal"), 2, true), (HTTPResponse(.notFound), 2, false),
            (Self.problem(409, "no_key"), 1, false),
            (Self.problem(429, "rate_limited", after: 1), 1, false), (Self.problem(400, "bad"), 2, false),
        ]
        for words in [["apple", "extend", "7", "--days", "3"], ["customers", "adjust", "a", "c", "--amount", "5"]] {
            for (response, code, isLost) in rows {
                let gate = try Gateway(to: nil)
                gate.answer { _, _ in response }
                try await gate.serve {
                    let given = try await Self.run(words + ["--idempotency-key", "mine-1"], at: gate.port)
                    #expect(given.code == code, "\(given.errorText)")
                    #expect(given.errorText.contains("--idempotency-key mine-1") == isLost, "\(given.errorText)")
                }
                #expect(gate.calls.map { $0.fields["Idempotency-Key"] } == ["mine-1"])
            }
        }
        // Nobody was there to do it.
        let none = try await Self.run(["apple", "extend", "7", "--days", "3"], at: 1)
        #expect(none.code == 2 && !none.errorText.contains("--idempotency-key"), "\(none.errorText)")
    }

    /// Each test message that is sent is meant.
    @Test func aTestMessageHasNoName() async throws {
        let gate = try Gateway(to: nil)
        gate.answer { _, _ in Self.badGateway }
        try await gate.serve {
            let lost = try await Self.run(["webhooks", "test", "whe_0123"], at: gate.port)
            #expect(lost.code == 2 && !lost.errorText.contains("--idempotency-key"), "\(lost.errorText)")
            let named = try await Self.run(["webhooks", "test", "whe_0123", "--idempotency-key", "k"], at: gate.port)
            #expect(named.code == 2, "\(named.errorText)")
        }
        #expect(gate.calls.map { $0.fields["Idempotency-Key"] } == [nil])
    }

    /// A server is restarted, a proxy says so in its own way, and others use the key as well.
    @Test func whoWaitsIsNotSentAwayByAHiccup() async throws {
        let hiccups = [
            Self.request("waiting"), Self.problem(429, "rate_limited", after: 1), Self.badGateway,
            Self.problem(503, "database_unreachable", after: 1), Self.request("waiting"), Self.request("done"),
        ]
        let gate = try Gateway(to: nil)
        gate.answer { _, number in hiccups[min(number, hiccups.count - 1)] }
        try await gate.serve {
            let run = try await Self.run(["apple", "extend", "7", "--days", "3", "--wait", "200"], at: gate.port)
            #expect(run.code == 0, "\(run.errorText)")
            #expect(run.text == "extend: done (ask_1)\n")
            #expect(run.errorText.contains("assay apple show ask_1"), "\(run.errorText)")
        }
        #expect(gate.calls.map(\.method) == [.post] + Array(repeating: .get, count: 5))
    }

    /// Each row: how the server answers once it has taken the question in, and how often it is asked at most.
    @Test func whatWasTakenInIsNamedAndNotYetKnown() async throws {
        let rows = [
            (Self.badGateway, 3), (Self.problem(503, "database_unreachable", after: 1), 3),
            // It would not answer in time.
            (Self.problem(503, "storage_full", after: 60), 1),
            // Nor will it ever, while Apple is asked all the same.
            (Self.problem(401, "unauthorized"), 1), (Self.problem(404, "not_found"), 1),
        ]
        for (response, polls) in rows {
            let gate = try Gateway(to: nil)
            gate.answer { _, number in number == 0 ? Self.request("waiting") : response }
            try await gate.serve {
                let run = try await Self.run(["apple", "extend", "7", "--days", "3", "--wait", "2"], at: gate.port)
                #expect(run.code == 3, "\(run.errorText)")
                #expect(run.text == "extend: waiting (ask_1)\n")
                #expect(run.errorText.contains("assay apple show ask_1"), "\(run.errorText)")
                #expect(!run.errorText.contains("--idempotency-key"), "\(run.errorText)")
            }
            #expect((1...polls + 1).contains(gate.calls.count), "\(gate.calls.count)")
        }
    }

    @Test func whatWasTakenInIsNamedThoughTheServerGoesAway() async throws {
        let gate = try Gateway(to: nil)
        gate.answer { _, _ in Self.request("waiting") }
        try await gate.serve {
            gate.endsAfterAnswer()
            let words = ["apple", "extend", "7", "--days", "3", "--wait", "2", "--json"]
            let run = try await Self.run(words, at: gate.port)
            #expect(run.code == 3, "\(run.errorText)")
            #expect(run.text == #"{"id":"ask_1","kind":"extend","state":"waiting"}"# + "\n")
            #expect(run.errorText.contains("no server answers"), "\(run.errorText)")
        }
    }
}

/// Hands calls on to a server, unless it answers otherwise: then what the server said is lost.
private final class Gateway: Sendable {
    typealias Answer = @Sendable (HTTPRequest, Int) -> HTTPResponse?

    private final class State: Sendable {
        let answer = Mutex<Answer> { _, _ in nil }
        let calls = Mutex<[HTTPRequest]>([])
        let stop = Mutex<(@Sendable () -> Void)?>(nil)
    }

    private let listener: HTTPListener
    private let state: State
    private let executor = OwnThread()

    var port: UInt16 { listener.port }
    var calls: [HTTPRequest] { state.calls.withLock(\.self) }

    /// - Parameter port: the server's; nil for none.
    /// - Throws: what the listener says that cannot listen.
    init(to port: UInt16?) throws {
        let state = State()
        self.state = state
        let caller = CurlCaller(CallerSettings()).caller
        let handler = HTTPHandler { request in
            let number = state.calls.withLock { calls in
                calls.append(request)
                return calls.count - 1
            }
            var response = HTTPResponse(HTTPStatus(rawValue: 502))
            if let port {
                let query = request.query.map { "?" + $0 } ?? ""
                let url = "http://127.0.0.1:\(port)\(request.path)\(query)"
                var call = HTTPCall(method: request.method, url: url, body: request.body)
                for name in ["Authorization", "Content-Type", "Idempotency-Key"] {
                    if let value = request.fields[name] { call.fields[name] = value }
                }
                if let told = try? await caller.send(call) {
                    let type = told.fields["Content-Type"] ?? "application/json"
                    response = HTTPResponse(told.status, fields: ["Content-Type": type], body: told.body)
                }
            }
            defer { state.stop.withLock { $0?() } }
            return state.answer.withLock(\.self)(request, number) ?? response
        }
        listener = try HTTPListener(address: "127.0.0.1", port: 0, lanes: 1, handler: handler) { _ in }
    }

    func answer(_ answer: @escaping Answer) { state.answer.withLock { $0 = answer } }

    /// The next call is the last one.
    func endsAfterAnswer() { state.stop.withLock { $0 = { [listener] in listener.stop() } } }

    func serve(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: executor) { await self.listener.run() }
            defer { listener.stop() }
            try await body()
        }
    }
}

/// A thread that the other tests cannot hold up: whoever asks waits half a minute, and no longer.
private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "gateway")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
