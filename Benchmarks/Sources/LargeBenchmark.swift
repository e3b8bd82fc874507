import Foundation
import PurchaseModel
import Storage

/// What recording costs as the ledger grows, and how long a question takes with all of it in the store.
struct LargeBenchmark {
    let samples: Samples
    /// For databases, each made and removed.
    let folder: String
    let servers: ServerFolder
    /// How many purchases the ledger comes to.
    let purchases: Int

    private static let batch = 256
    private static let steps = 10
    /// How often each page and question is asked for, each time about another customer.
    private static let asked = 200

    func run() async throws -> [Section] {
        let ledger = LargeLedger(samples: samples, end: Self.now)
        let store = try SQLiteStore.open(folder: servers.emptyLedger())
        var sections = [recording("SQLite", try await fill(store, ledger))]
        let session = try await signIn(store)
        await store.close()
        sections.append(try questions(session))
        for kind in StoreChoice.available where !kind.isSQLite {
            let rows = try await kind.withStore(in: folder + "/large") { store in try await fill(store, ledger) }
            sections.append(recording(kind.name, rows))
        }
        return sections
    }

    private static var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

    private func recording(_ name: String, _ rows: [Section.Row]) -> Section {
        Section(
            "\(purchases) purchases recorded in \(name), \(Self.batch) in a commit",
            columns: ["rows/s", "CPU µs a row", "p50 ms", "p99 ms"],
            rows: rows,
            goal: "40 % of what an empty SQLite takes, or more, and 85 % of what an empty PostgreSQL does"
        )
    }

    /// Records all of it; a row for each tenth.
    private func fill(_ store: any Store, _ ledger: LargeLedger) async throws -> [Section.Row] {
        var rows: [Section.Row] = []
        let step = purchases / Self.steps
        for start in stride(from: 0, to: step * Self.steps, by: step) {
            var times: [Double] = []
            let (cpu, began) = (CPUTime.ofProcess, CPUTime.elapsed)
            for place in stride(from: start, to: start + step, by: Self.batch) {
                let part = (place..<min(place + Self.batch, start + step)).map(ledger.work)
                let commit = CPUTime.elapsed
                try await PurchaseWork.record(part, in: store)
                times.append(Double(CPUTime.elapsed - commit) / 1e6)
            }
            let (seconds, used) = (Double(CPUTime.elapsed - began) / 1e9, Double(CPUTime.ofProcess - cpu) / 1e3)
            times.sort()
            rows.append(
                Section.Row(
                    name: "from \(start)",
                    values: [
                        Double(step) / seconds, used / Double(step), times[times.count / 2],
                        times[times.count * 99 / 100],
                    ]
                )
            )
        }
        return rows
    }

    /// Pages of the dashboard and questions to the API, one at a time, of a server with all of it.
    private func questions(_ session: String) throws -> Section {
        let assay = try servers.startAssay(trusting: samples.authority, giving: "premium", isEmpty: false)
        defer { assay.stop() }
        try assay.waitUntilLive(seconds: 60)
        var rows: [Section.Row] = []
        for question in Self.all {
            let values = try assay.measure { try ask(question, assay.port, session) }
            rows.append(Section.Row(name: question.name, values: values))
        }
        return Section(
            "A server with \(purchases) purchases in SQLite, asked one thing at a time",
            columns: ["median ms", "p95 ms", "longest ms", "kB"],
            rows: rows,
            goal: "95 of 100 pages in 50 ms, none above 100 kB"
        )
    }

    /// - Returns: the token of a browser that is signed in.
    private func signIn(_ store: SQLiteStore) async throws -> String {
        let (name, token, now) = (AdminName(checked: "benchmark"), ServerFolder.sessionToken, Self.now)
        let account = AdminAccount(name: name, role: .viewer, password: "none", createdAt: now)
        let session = AdminSession(digest: ServerFolder.digest(of: token), admin: name, startedAt: now, seenAt: now)
        try await store.write { transaction throws(StoreFailure) in
            try transaction.createAdmin(account)
            try transaction.startAdminSession(session)
        }
        return token
    }

    private func ask(_ question: Question, _ port: UInt16, _ session: String) throws -> [Double?] {
        let customers = LargeLedger.customers(purchases)
        var connection = try LoadConnection(port: port)
        defer { close(connection.socket) }
        var times: [Double] = []
        var bytes = 0
        for number in 0..<Self.asked {
            let target = question.target(customers[customers.startIndex + number * 7_919 % customers.count])
            try connection.send { request in
                request += "GET \(target) HTTP/1.1\r\nHost: localhost\r\nCookie: assay=\(session)\r\n".utf8
                request += "Authorization: Bearer \(ServerFolder.key)\r\n\r\n".utf8
            }
            var status: Int?
            while status == nil { status = try connection.receive() }
            guard status == 200 else { throw BenchmarkFailure("\(target): \(connection.text)") }
            times.append(Double(CPUTime.elapsed - connection.began) / 1e6)
            bytes = max(bytes, connection.text.utf8.count)
        }
        times.sort()
        return [
            times[times.count / 2], times[times.count * 95 / 100], times[times.count - 1], Double(bytes) / 1_000,
        ]
    }

    private struct Question {
        let name: String
        /// What is asked about a customer, by the customer's number.
        let target: @Sendable (Int) -> String
    }

    private static let all =
        ["", "/revenue?currency=USD", "/subscriptions", "/triage", "/notifications", "/operations"].map { page in
            Question(name: "page \(page.isEmpty ? "/" : page)") { _ in
                "/dashboard" + page
            }
        } + [
            Question(name: "page /customer") { "/dashboard/customer?app=game&id=customer-\($0)" },
            Question(name: "page /transaction") { "/dashboard/transaction?app=game&id=\(LargeLedger.id($0, 1))" },
            Question(name: "page /search") { "/dashboard/search?q=nobody-\($0)" },
            Question(name: "GET …/entitlements") { "/v1/customers/customer-\($0)/entitlements" },
            Question(name: "GET …/transactions") { "/v1/customers/customer-\($0)/transactions" },
            Question(name: "GET …/subscriptions") { "/v1/customers/customer-\($0)/subscriptions" },
            Question(name: "GET /v1/transactions/…") { "/v1/transactions/\(LargeLedger.id($0, 2))" },
            Question(name: "GET /v1/events") { "/v1/events?limit=100&after=\($0)" },
            Question(name: "GET /v1/metrics/overview") { _ in "/v1/metrics/overview" },
        ]
        + ["purchases", "mrr", "churn", "renewals_due"].map { chart in
            Question(name: "GET /v1/charts/\(chart)") { _ in
                "/v1/charts/\(chart)" + (chart == "mrr" ? "?currency=USD" : "")
            }
        }
}
