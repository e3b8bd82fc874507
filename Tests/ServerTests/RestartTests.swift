import Encoding
import Foundation
import Testing

/// What was answered is there after a restart, and a stop answers everybody.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct RestartTests {
    @Test func aRestartKeepsEverythingAndRepeatsTheFirstAnswers() async throws {
        try await ServerFolder.with { folder in
            let bodies = try (Int64(0)..<5).map { Purchase.body(try Purchase.jws($0), customer: "customer-\($0)") }
            let pending = Purchase.body("170000029449420")
            let first = try await folder.serve()
            let answers = await first.talk { client in bodies.map { client.post($0) } } ?? []
            let location = await first.post(pending)?.fields["location"] ?? ""
            first.stop()
            #expect(await first.exitCode() == 0)
            #expect(answers.map { $0?.result } == Array(repeating: "recorded", count: 5))

            let second = try await folder.serve()
            let again = await second.talk { client in bodies.map { client.post($0) } } ?? []
            #expect(again.map { $0?.result } == Array(repeating: "already_recorded", count: 5))
            #expect(again.map { $0?.transactions } == answers.map { $0?.transactions })
            let listed = await second.get("/v1/customers/customer-3/transactions")
            #expect(listed?.transactions == answers[3]?.transactions)
            #expect(await second.get(location)?.result == "pending")
            #expect(await second.post(pending)?.fields["location"] == location)
        }
    }

    @Test func aStopUnderLoadAnswersEveryRequestThatWasTakenIn() async throws {
        try await ServerFolder.with { folder in
            let bodies = try (Int64(0)..<400).map { Purchase.body(try Purchase.jws($0)) }
            let server = try await folder.serve("--limits-drain-seconds", "10")
            let port = server.port
            let clients = 8
            // Each sends until it is told that this was the last answer.
            let answered = await withTaskGroup(of: [LoadResult].self) { group in
                group.addTask {
                    await Threads.run(clients) { index in
                        let own = stride(from: index, to: bodies.count, by: clients)
                        return LoadResult.send(own.map { (Int64($0), bodies[$0]) }, to: port) { count in
                            if index == 0, count == 10 { server.stop() }
                        }
                    }
                }
                return await group.next() ?? []
            }
            let began = ContinuousClock.now
            #expect(await server.exitCode() == 0)
            #expect(ContinuousClock.now - began < .seconds(10))
            #expect(answered.allSatisfy { $0.unanswered == 0 })
            #expect(server.errors.lines.last?.contains("\"stopped\"") == true)
            let recorded = answered.flatMap(\.recorded)
            #expect(recorded.count >= 10)

            let next = try await folder.serve()
            for (number, recordedAt) in recorded {
                let again = await next.post(bodies[Int(number)])
                #expect(again?.result == "already_recorded")
                #expect(again?.first("recorded_at") == recordedAt)
            }
        }
    }

    @Test func aStopIsHeardFromTheFirstMoment() async throws {
        try await ServerFolder.with { folder in
            for _ in 0..<8 {
                let server = try await folder.serve()
                server.stop()
                #expect(await server.exitCode() == 0)
            }
        }
    }

    @Test func aLogThatNobodyReadsStopsNoPurchase() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve(readsLog: false)
            // Each of them is a line, and together they are far more than a pipe and the queue before it hold.
            let lines = 1_700
            let port = server.port
            let kept = await Threads.run(4) { index in
                guard let client = WireClient(port: port) else { return 0 }
                return stride(from: index, to: lines, by: 4).count { number in
                    client.post(Purchase.body("170000029449420", customer: "customer-\(number)"))?.status == 202
                }
            }
            #expect(kept.reduce(0, +) == lines)
            let body = Purchase.body(try Purchase.jws(1))
            #expect(await server.post(body)?.result == "recorded")
            #expect(await server.get("/metrics")?.text.contains("assay_log_lines_dropped_total") == true)
            server.errors.close()
            #expect(await server.post(Purchase.body("170000029449420"))?.status == 202)
            #expect(await server.post(body)?.result == "already_recorded")
            server.stop()
            #expect(await server.exitCode() == 0)
        }
    }

    @Test func aThousandAtOnceRecordItOnce() async throws {
        try await ServerFolder.with { folder in
            let body = Purchase.body(try Purchase.jws(1))
            let server = try await folder.serve()
            let port = server.port
            let answers = await Threads.run(64) { index -> [WireClient.Answer?] in
                guard let client = WireClient(port: port) else { return [] }
                return (0..<(index < 40 ? 16 : 15)).map { _ in client.post(body) }
            }.flatMap { $0 }
            #expect(answers.count == 1_000)
            #expect(answers.count { $0?.result == "recorded" } == 1)
            #expect(answers.count { $0?.result == "already_recorded" } == 999)
            #expect(Set(answers.map { $0?.transactions }).count == 1)
            let listed = await server.get("/v1/customers/customer-1/transactions")
            #expect(listed?.json?["transactions"]?.array?.count == 1)
        }
    }
}

/// What one client saw.
struct LoadResult: Sendable {
    /// The numbers that were said to be recorded, and when.
    var recorded: [(number: Int64, recordedAt: String)] = []
    /// Requests that were sent and never answered.
    var unanswered = 0

    /// Posts one after another over one connection, until the server lets go or nobody listens.
    ///
    /// - Parameters:
    ///   - bodies: what to post, with the numbers to note.
    ///   - port: the server's.
    ///   - noted: told how many were answered, after each.
    /// - Returns: what was answered and what was not.
    static func send(
        _ bodies: [(number: Int64, body: [UInt8])],
        to port: UInt16,
        _ noted: (Int) -> Void
    ) -> LoadResult {
        var result = LoadResult()
        guard let client = WireClient(port: port) else { return result }
        for (number, body) in bodies {
            guard let answer = client.post(body) else {
                result.unanswered += 1
                return result
            }
            if answer.status == 200, let recordedAt = answer.first("recorded_at") {
                result.recorded.append((number, recordedAt))
            }
            noted(result.recorded.count)
            if answer.isLast { return result }
        }
        return result
    }
}
