import Encoding
import Foundation
import Storage
import Testing

/// What a client has sent to one ledger and what it was told first, over all the deaths of its server.
struct SweepHistory: Sendable {
    private struct Sent: Sendable {
        let body: [UInt8]
        let kind: Kind
        /// The first answer that arrived; `nil` while nobody was told anything.
        var first: WireClient.Answer?
    }

    private enum Kind { case purchase, pending, garbage }

    static let customer = "customer-1"

    private var sent: [Sent] = []
    private var nextNumber: Int64 = 1
    /// What was sent to make the log longer, and is not sent again.
    private var fillers = 0

    /// How many bodies of the last ones that were sent were answered, and how many of the others were on disk although
    /// nobody was told: known only after ``replay(on:)``.
    private(set) var acknowledged = 0
    private(set) var untold = 0

    /// Makes a ledger's log so long that little more has it brought into the database.
    mutating func fillLog(of server: ServerProcess, _ log: String, pages: Int) async throws {
        var length = 0
        while length < pages {
            // A number proves nothing, and spaces around it are kept as they came: some 160 pages, then a few at a time.
            let padding = String(repeating: " ", count: pages - length > 200 ? 640_000 : 0)
            fillers += 1
            let answer = await server.post(Purchase.body(padding + "\(100_000_000_000_000 + fillers)"))
            try #require(answer?.status == 202)
            let attributes = try FileManager.default.attributesOfItem(atPath: log)
            length = (try #require(attributes[.size] as? Int)) / 4_120
        }
    }

    /// Sends new ones until the server is gone: one after the other, then two at once, which may share a commit.
    mutating func send(to server: ServerProcess) async throws {
        let alone = [try purchase(), pending(), garbage(), try purchase()]
        let together = [try purchase(), try purchase()]
        sent += (alone + together).map { Sent(body: $0.body, kind: $0.kind) }
        let start = sent.count - alone.count - together.count
        let bodies = sent[start...].map(\.body)
        let answers = await server.talk { client in bodies.prefix(alone.count).map { client.post($0) } } ?? []
        for (offset, answer) in answers.enumerated() { sent[start + offset].first = answer }
        let port = server.port
        let rest = await Threads.run(together.count) { index in
            WireClient(port: port)?.post(bodies[alone.count + index])
        }
        for (offset, answer) in rest.enumerated() { sent[start + alone.count + offset].first = answer }
    }

    /// Sends everything again: what was told stays as it was told, and each purchase is there once.
    mutating func replay(on server: ServerProcess, _ place: Comment) async {
        (acknowledged, untold) = (0, 0)
        let bodies = sent.map(\.body)
        let answers = await server.talk { client in bodies.map { client.post($0) } } ?? []
        #expect(answers.count == sent.count, place)
        for (index, answer) in answers.enumerated() {
            guard let answer else {
                Issue.record("no answer to a repetition: \(place)")
                continue
            }
            check(answer, against: sent[index], place)
            sent[index].first = sent[index].first ?? answer
        }
        await checkRows(on: server, place)
    }

    /// What the file holds, read without the server.
    func check(ledger folder: String) async throws {
        let store = try SQLiteStore.open(folder: folder)
        let figures = try await store.read { reader throws(StoreFailure) in try reader.figures() }
        let purchases = sent.count { $0.kind == .purchase }
        let pending = sent.count { $0.kind == .pending } + fillers
        // Each purchase came with a proof of its own.
        #expect(
            figures
                == StoreFigures(
                    transactions: purchases,
                    evidence: purchases,
                    submissions: pending,
                    pendingSubmissions: pending
                )
        )
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    private mutating func check(_ answer: WireClient.Answer, against sent: Sent, _ place: Comment) {
        if sent.first != nil { acknowledged += 1 }
        switch sent.kind {
        case .garbage: #expect(answer.status == 422, place)
        case .pending:
            #expect(answer.status == 202, place)
            guard let first = sent.first else { return }
            #expect(first.status == 202, place)
            #expect(answer.fields["location"] == first.fields["location"], place)
        case .purchase:
            #expect(answer.status == 200, place)
            guard let first = sent.first else {
                if answer.result == "already_recorded" { untold += 1 }
                return
            }
            #expect(first.result == "recorded" || first.result == "already_recorded", place)
            #expect(answer.result == "already_recorded", place)
            #expect(answer.transactions == first.transactions, place)
        }
    }

    /// One row for each purchase, in the listing and by its number.
    private func checkRows(on server: ServerProcess, _ place: Comment) async {
        let purchases = sent.filter { $0.kind == .purchase }.compactMap { $0.first?.first("transaction_id") }
        let listed = await server.talk { client in
            var ids: [String] = []
            var next: String?
            repeat {
                let query = "limit=500" + (next.map { "&after=\($0)" } ?? "")
                let page = client.get("/v1/customers/\(Self.customer)/transactions?\(query)")?.json
                for element in page?["transactions"]?.array.map(Array.init) ?? [] {
                    ids.append(element.object?["transaction_id"]?.string ?? "")
                }
                next = page?["next"]?.string
            } while next != nil
            return ids
        }
        #expect(listed?.sorted() == purchases.sorted(), place)
        let counts = await server.talk { client in
            purchases.suffix(4).map { client.get("/v1/transactions/\($0)")?.json?["transactions"]?.array?.count }
        }
        #expect(counts?.allSatisfy { $0 == 1 } == true, place)
    }

    private mutating func purchase() throws -> (body: [UInt8], kind: Kind) {
        (Purchase.body(try Purchase.jws(number()), customer: Self.customer), .purchase)
    }

    private mutating func pending() -> (body: [UInt8], kind: Kind) {
        (Purchase.body("\(170_000_000_000_000 + number())", customer: Self.customer), .pending)
    }

    private mutating func garbage() -> (body: [UInt8], kind: Kind) { (Purchase.body("no proof \(number())"), .garbage) }

    private mutating func number() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }
}
