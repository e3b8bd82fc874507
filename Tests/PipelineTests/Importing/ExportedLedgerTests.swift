import Encoding
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// A ledger that has delivered, exported and imported again, goes on where it was.
@Suite struct ExportedLedgerTests {
    /// What is the same of each delivery to a shop that keeps fences.
    private struct Sight: Hashable {
        let id: String
        let state: String
        let fence: Int64
        let customer: String?
    }

    @Test func anotherLedgerGoesOn() async throws { try await Self.carry(to: MemoryStore()) }

    @Test func inAFileToo() async throws {
        try await Tampering.withFolder { folder in
            let store = try SQLiteStore.open(folder: folder + "/data")
            try await Self.carry(to: store)
            await store.close()
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func onPostgreSQLToo() async throws {
        try await Tampering.withSchema { settings in
            let store = try await PostgreSQLStore.open(settings)
            try await Self.carry(to: store)
            await store.close()
        }
    }

    /// Coins of ann, one of which was refunded in part, a receipt with coins of nobody and a lamp of bob, and a year.
    private static func live(_ books: OwnedBooks, _ store: any Store) async throws {
        let (first, second) = (try OwnedBooks.sold(1, "coins"), try OwnedBooks.sold(2, "coins"))
        let receipt = try OwnedBooks.receipt([second, try OwnedBooks.sold(3), try OwnedBooks.sold(4, "yearly")])
        let rows = [
            OwnedBooks.row(1, try jws(first), "ann"),
            OwnedBooks.row(2, try jws(refunded(first, 40_000, after: 60)), "ann"),
            OwnedBooks.row(3, try jws(OwnedBooks.sold(3)), "bob"),
            OwnedBooks.row(4, try jws(OwnedBooks.sold(4, "yearly")), "bob"), OwnedBooks.row(5, receipt, nil),
        ]
        let outcomes = try await books.take(rows, into: store, .here)
        #expect(outcomes.allSatisfy { [.recorded, .known].contains($0.kind) })
    }

    private static func jws(_ sold: Transaction) throws -> [UInt8] {
        Array(try TestAuthority.signer(.production).transaction(sold).utf8)
    }

    private static func refunded(_ sold: Transaction, _ percentage: Int?, after seconds: Int64) -> Transaction {
        var sold = sold
        sold.signedAt = sold.signedAt.advanced(by: .seconds(seconds))
        sold.revocation = Revocation(at: sold.signedAt, reason: 0, percentage: percentage)
        return sold
    }

    private static func sights(_ books: OwnedBooks, _ store: any Store) async throws -> Set<Sight> {
        let rows = try await books.export(store).compactMap { try JSONDocument($0).root.object }
        return Set(
            rows.filter { $0["kind"]?.string == ExportKind.fulfilment.rawValue }.map { row in
                Sight(
                    id: row["delivery_id"]?.string ?? "",
                    state: (row["state"]?.string ?? "") + (row["reason"]?.string ?? ""),
                    fence: row["fence"]?.int64 ?? 0,
                    customer: row["customer_id"]?.string
                )
            }
        )
    }

    private static func carry(to base: any Store) async throws {
        let (books, source) = (try OwnedBooks(), MemoryStore())
        try await live(books, source)
        let before = try await sights(books, source)
        #expect(before.map(\.fence).sorted() == [0, 1, 1, 2])
        var random = SeededRandom(seed: 7)
        let target = WatchedStore(base)
        let counts = try await books.take(try await books.export(source), into: target, as: 1, &random)
        #expect(counts.refused == 0 && counts.invalid == 0)
        #expect(try await sights(books, target) == before)
        #expect(try await events(books, target) == [])
        // She presents what waited, and the rest of the first is taken back.
        let second = try jws(OwnedBooks.sold(2, "coins"))
        let taken = try jws(refunded(OwnedBooks.sold(1, "coins"), nil, after: 120))
        let rows = [OwnedBooks.row(1, second, "ann"), OwnedBooks.row(2, taken, nil)]
        _ = try await books.take(rows, into: target, .here, as: 9)
        #expect(try await events(books, target) == ["delivery.granted 1", "delivery.compensated 3"])
        let findings = try await target.read { reader throws(StoreFailure) in try LedgerCheck.run(over: reader) }
        #expect(findings.isSound, "\(findings.listed)")
    }

    private static func events(_ books: OwnedBooks, _ store: any Store) async throws -> [String] {
        let rows = try await books.export(store).compactMap { try JSONDocument($0).root.object }
        return rows.filter { $0["kind"]?.string == ExportKind.event.rawValue }.map { row in
            let fence = row["data"]?.object?["delivery"]?.object?["fence"]?.int64
            return (row["type"]?.string ?? "") + (fence.map { " \($0)" } ?? "")
        }
    }

    /// An export of an earlier version says nothing of what became of its rows: all of it is taken for delivered, as ever.
    @Test func anEarlierVersionsExportIsTakenAsEver() async throws {
        let (books, source, target) = (try OwnedBooks(), MemoryStore(), MemoryStore())
        try await Self.live(books, source)
        let rows = try await books.export(source).map { line in
            let object = try #require(try JSONDocument(line).root.object)
            return JSONWriter.object { json in
                for (name, value) in object.members where name != "fulfilment" { json.member(name, value) }
            }
        }
        var random = SeededRandom(seed: 8)
        _ = try await books.take(rows, into: WatchedStore(target), as: 1, &random)
        let found = try await Self.sights(books, target)
        #expect(found.map(\.fence).sorted() == [0, 1, 1, 1])
        _ = try await books.take(
            [OwnedBooks.row(1, try Self.jws(OwnedBooks.sold(2, "coins")), "ann")],
            into: target,
            .here,
            as: 9
        )
        #expect(try await Self.events(books, target) == [])
    }

    /// Its books end when its row says so, or its end. Where nobody knows when that was, they end now.
    @Test(arguments: [true, false], [-20, nil, 30])
    func itsBooksEndWhenItSays(isSaid: Bool, days: Int64?) async throws {
        let (books, store) = (try OwnedBooks(), MemoryStore())
        let old = try OwnedBooks.sold(1, "monthly", day: -31)
        let until = days.map { OwnedBooks.now.advanced(by: .seconds($0 * 86_400)) }
        let claim = ImportRow.Claim(
            proof: try Self.jws(old),
            customer: CustomerID("ann"),
            subject: try OwnedBooks.subject(1),
            exported: ExportedFulfilment(.delivered(fence: 1), booksUntil: until)
        )
        let row = ImportRow(line: 1, end: 10, lineAfter: 2, claim: .success(claim))
        let importer = books.importer(store)
        let progress = try await importer.progress(of: OwnedBooks.id(1))
        let closedAt = isSaid ? OwnedBooks.now.advanced(by: .seconds(-2 * 86_400)) : nil
        _ = try await importer.take([row], after: progress, report: nil, closedAt: closedAt)
        let realm = Realm(environment: .production, isTestSigned: true)
        let chain = ChainKey(app: books.app.id, realm: realm, original: old.id)
        let given = try await store.read { reader throws(StoreFailure) in try reader.fulfilments([chain]) }
        #expect(given.map(\.isImported) == [true])
        // No book ends years from now.
        let last = OwnedBooks.now.advanced(by: .seconds(2 * 86_400))
        #expect(given.map(\.booksClosedAt) == [until.map { min($0, last) } ?? closedAt ?? OwnedBooks.now])
    }

    /// What became of one transaction cannot be read: the rest is exported, that one without it, and it is named.
    @Test(.enabled(if: Tampering.hasPython)) func ofADamagedLedgerTheRestIsExported() async throws {
        try await Tampering.withFolder { folder in
            let (books, data) = (try OwnedBooks(), folder + "/data")
            let whole = try SQLiteStore.open(folder: data)
            try await Self.live(books, whole)
            await whole.close()
            try Tampering.run(["UPDATE fulfilments SET state = 'gone' WHERE transaction_id = 1"], in: data)
            let store = try SQLiteStore.open(folder: data)
            let (app, rows) = (books.app.id, Noted<[UInt8]>())
            for (kinds, name) in [
                ([ExportKind.transaction], "fulfilments of 1"), ([.transaction, .fulfilment], "fulfilments 1/0/1"),
            ] {
                let report = try await store.read { reader throws(StoreFailure) in
                    let (kinds, now) = (Set(kinds), OwnedBooks.now)
                    return try LedgerExport.run(app: app, kinds: kinds, includesProofs: true, over: reader, at: now) {
                        if $0 == .transaction { rows.note($1) }
                        return true
                    }
                }
                #expect(report.counts[.transaction] == 4 && report.isWhole)
                #expect(report.unreadable.map { $0.hasPrefix(name.prefix(13)) } == [true], "\(report.unreadable)")
            }
            let told = try rows.values.prefix(4).map { row in try JSONDocument(row).root.object?["fulfilment"] != nil }
            #expect(told.count { $0 } == 3)
            await store.close()
        }
    }

    /// A server may have stood still for long before it is exported.
    @Test func itsBooksEndWithItsNewestTransaction() async throws {
        let (books, store) = (try OwnedBooks(), MemoryStore())
        try await Self.live(books, store)
        let app = books.app.id
        func until(_ kinds: Set<ExportKind>, after seconds: Int64) async throws -> Timestamp? {
            let now = OwnedBooks.now.advanced(by: .seconds(seconds))
            return try await store.read { reader throws(StoreFailure) in
                let take: LedgerExport.Take = { _, _ in true }
                return try LedgerExport.run(app: app, kinds: kinds, includesProofs: true, over: reader, at: now, take)
                    .recordedUntil
            }
        }
        #expect(try await until([.transaction], after: 86_400) == OwnedBooks.now)
        // A clock that was set back.
        #expect(try await until([.transaction], after: -60) == OwnedBooks.now.advanced(by: .seconds(-60)))
        #expect(try await until([.evidence], after: 86_400) == nil)
    }

    /// Of each chain the books end with the newest that is known of it, whatever else was sold until then: what its ledger did
    /// not hear any more, nobody has delivered.
    @Test func whatItsLedgerDidNotHearIsDelivered() async throws {
        let (books, source) = (try OwnedBooks(), MemoryStore())
        let old = try OwnedBooks.sold(1, "monthly", day: -29)
        let missed = try OwnedBooks.sold(2, "monthly", original: 1, day: -1)
        let rows = [
            OwnedBooks.row(1, try Self.jws(old), "ann"),
            OwnedBooks.row(2, try Self.jws(OwnedBooks.sold(3, "coins")), "bob"),
        ]
        _ = try await books.take(rows, into: source, .here)
        let row = try #require(
            try await books.export(source).compactMap { try JSONDocument($0).root.object }.first {
                $0["kind"]?.string == "transaction" && $0["transaction_id"]?.string == "1"
            }
        )
        let until = row["fulfilment"]?.object?["books_until"]?.string.flatMap { RFC3339.milliseconds($0) }
        #expect(until == old.purchasedAt.advanced(by: .seconds(1)).milliseconds)
        var random = SeededRandom(seed: 9)
        let target = WatchedStore(MemoryStore())
        _ = try await books.take(try await books.export(source), into: target, as: 1, &random)
        #expect(try await Self.events(books, target) == [])
        _ = try await books.take([OwnedBooks.row(1, try Self.jws(missed), "ann")], into: target, .here, as: 9)
        #expect(try await Self.events(books, target).contains("delivery.granted 1"))
    }

    /// When the lines of an export say that its books end.
    private static func end(_ lines: [String]) throws -> Timestamp? {
        let bytes = Array(lines.joined(separator: "\n").utf8)
        let source = ImportSource { place in .init(bytes: Array(bytes.dropFirst(Int(place)))) }
        return try ImportReader.confirmEnd(of: source, .jsonLines, try #require(ImportColumns.presets["assay"]))
    }

    /// Of several that stand in one file the first one counts, and none where one does not say.
    @Test func theFirstOfSeveralCounts() throws {
        let (first, second) = ("2025-01-01T00:00:00Z", "2025-01-02T00:00:00Z")
        func end(_ moment: String?) -> String {
            #"{"kind":"end","rows":0\#(moment.map { #","recorded_until":"\#($0)""# } ?? "")}"#
        }
        let wanted = try Self.end([end(first)])
        #expect(wanted != nil)
        #expect(try Self.end([end(second), end(first)]) == wanted)
        #expect(try Self.end([end(first), end(nil)]) == nil)
    }
}
