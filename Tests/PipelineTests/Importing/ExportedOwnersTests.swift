import Encoding
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// A ledger exported and imported again is the same to its customers, whosever receipts brought what is theirs.
@Suite struct ExportedOwnersTests {
    private static let customers = ["ann", "bob", "eve"]

    @Test(arguments: UInt64(0)..<24)
    func anotherLedgerHasTheSameOwners(seed: UInt64) async throws {
        try await Self.carry(to: MemoryStore(), seed)
    }

    @Test(arguments: UInt64(24)..<30)
    func inAFileToo(seed: UInt64) async throws {
        try await Tampering.withFolder { folder in
            let store = try SQLiteStore.open(folder: folder + "/data")
            try await Self.carry(to: store, seed)
            await store.close()
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"), arguments: UInt64(24)..<30)
    func onPostgreSQLToo(seed: UInt64) async throws {
        try await Tampering.withSchema { settings in
            let store = try await PostgreSQLStore.open(settings)
            try await Self.carry(to: store, seed)
            await store.close()
        }
    }

    /// An older proof that says whose a purchase is leaves it to the newest one to prove it.
    @Test func theNewestProofIsExported() async throws {
        let (books, store) = (try OwnedBooks(), MemoryStore())
        let sold = try OwnedBooks.sold(1)
        let (newest, older) = (try OwnedBooks.receipt([sold], age: 10), try OwnedBooks.receipt([sold], age: 90))
        let rows = [OwnedBooks.row(1, newest, nil), OwnedBooks.row(2, older, "ann")]
        #expect(try await books.take(rows, into: store).allSatisfy { $0.kind == .recorded })
        let exported = try await books.export(store).compactMap { try JSONDocument($0).root.object }
        let row = try #require(exported.first { $0["kind"]?.string == ExportKind.transaction.rawValue })
        #expect(row["owner_id"]?.string == "ann")
        let proof = try #require(row["proof"]?.string)
        #expect(proof == String(decoding: Base64.encode(newest, .standard, isPadded: true), as: UTF8.self))
    }

    /// Receipts know no price, no offer, no family and no upgrade. Each row: in which order the ledger heard of it all, by how
    /// old the proofs are in seconds: a JWS, one that is marked as upgraded (`u`), a receipt (`r`).
    @Test(arguments: [
        ["90", "r10"], ["90", "u50", "r10"], ["90", "r70", "u50", "r10"], ["r10", "90"], ["r10", "90", "u50"],
        ["r10", "u50", "90"], ["r80", "u50", "r10", "90"], ["90", "r70", "r10"], ["u50", "r40", "r10"],
    ])
    func whatReceiptsDoNotTellIsExportedToo(heard: [String]) async throws {
        let (books, store, target) = (try OwnedBooks(), MemoryStore(), MemoryStore())
        for (line, word) in heard.enumerated() {
            var sold = try OwnedBooks.sold(1, "monthly")
            let age = try #require(Int64(word.filter(\.isNumber)))
            sold.signedAt = OwnedBooks.now.advanced(by: .seconds(-age))
            (sold.price, sold.ownership) = (Price(milliunits: 9_990, currency: "USD"), .purchased)
            sold.offer = Offer(kind: .introductory, discount: "PAY_AS_YOU_GO")
            sold.isUpgraded = word.hasPrefix("u")
            let isReceipt = word.hasPrefix("r")
            let proof =
                isReceipt
                ? try OwnedBooks.receipt([sold], age: age)
                : Array(try TestAuthority.signer(.production).transaction(sold).utf8)
            let row = OwnedBooks.row(Int64(line), proof, "ann")
            #expect(try await books.take([row], into: store, as: UInt8(line + 1)).allSatisfy { $0.kind != .refused })
        }
        let export = try await books.export(store)
        var random = SeededRandom(seed: 1)
        _ = try await books.take(export, into: WatchedStore(target), as: 1, &random)
        let again = try await books.export(target)
        #expect(try Self.facts(again) == Self.facts(export))
        let text = export.map { String(decoding: $0, as: UTF8.self) }.joined()
        #expect(
            text.contains("price_milliunits") && text.contains("is_upgraded") == heard.contains { $0.hasPrefix("u") }
        )
        // And once more, out of the other ledger.
        let third = MemoryStore()
        _ = try await books.take(again, into: WatchedStore(third), as: 1, &random)
        #expect(try Self.facts(try await books.export(third)) == Self.facts(export))
    }

    /// What was given may have become of it on another way, where an older proof came after a newer one.
    private static func facts(_ export: [[UInt8]]) throws -> [String] {
        try OwnedBooks.lasting(export).filter {
            $0.contains("kind=\"transaction\"") || $0.contains("kind=\"subscription\"")
        }
    }

    private static func carry(to base: any Store, _ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let (books, source) = (try OwnedBooks(), MemoryStore())
        let sold = try await live(books, source, &random)
        let export = try await books.export(source)
        let target = WatchedStore(base)
        let counts = try await books.take(export, into: target, as: 1, &random)
        #expect(counts.refused == 0 && counts.invalid == 0 && counts.asked == 0)
        let again = try await books.export(target)
        let (found, wanted) = (try OwnedBooks.lasting(again), try OwnedBooks.lasting(export))
        let differing = Set(found).symmetricDifference(wanted).sorted()
        #expect(differing.isEmpty, "\(differing.joined(separator: "\n"))")
        for customer in customers {
            #expect(try await books.rights(of: customer, target) == books.rights(of: customer, source))
        }
        for (environment, original) in sold {
            let owner = try await books.owner(of: original, in: environment, source)
            #expect(try await books.owner(of: original, in: environment, target) == owner)
        }
        // Once more, and once more from there.
        let known = try await books.take(export, into: target, as: 2, &random)
        #expect(known.recorded == 0 && known.known == counts.recorded + counts.known)
        let back = try await books.take(again, into: target, as: 3, &random)
        #expect(back.recorded == 0)
        #expect(try await books.export(target) == again)
        let findings = try await target.read { reader throws(StoreFailure) in try LedgerCheck.run(over: reader) }
        #expect(findings.isSound, "\(findings.listed)")
    }

    /// Receipts that overlap, each shown by somebody or nobody, and some purchases that became another's.
    ///
    /// - Returns: the chains.
    private static func live(
        _ books: OwnedBooks,
        _ store: any Store,
        _ random: inout SeededRandom
    ) async throws -> [(StoreEnvironment, Int64)] {
        var chains: [(StoreEnvironment, Int64)] = []
        var rows: [ImportRow] = []
        // The same numbers on both sides of the wall.
        for environment in [StoreEnvironment.production, .sandbox] {
            var sold: [[Transaction]] = []
            for original in stride(from: Int64(1), through: 41, by: 10) {
                chains.append((environment, original))
                sold.append(try chain(original, &random))
            }
            for _ in 0..<Int.random(in: 2...5, using: &random) {
                let held = sold.flatMap(\.self).filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
                if held.isEmpty { continue }
                // Each is newer than those before it: what a later one says is what the ledger knows.
                let age = Int64(10_000 - 100 * rows.count)
                let proof = try OwnedBooks.receipt(held, in: environment, age: age)
                rows.append(OwnedBooks.row(Int64(rows.count + 1), proof, customers.randomElement(using: &random)))
            }
            for var one in sold.flatMap(\.self) where Int.random(in: 0..<3, using: &random) == 0 {
                // Older than some receipts, newer than others.
                one.signedAt = OwnedBooks.now.advanced(by: .seconds(-Int64.random(in: 1...12_000, using: &random)))
                (one.price, one.ownership) = (Price(milliunits: 4_990, currency: "EUR"), .purchased)
                let jws = Array(try TestAuthority.signer(environment).transaction(one).utf8)
                let customer = customers.randomElement(using: &random)
                rows.append(OwnedBooks.row(Int64(rows.count + 1), jws, customer))
            }
            let alone = sold.flatMap(\.self).randomElement(using: &random)
            let jws = try alone.map { alone in
                var alone = alone
                alone.price = Price(milliunits: 4_990, currency: "EUR")
                return try TestAuthority.signer(environment).transaction(alone)
            }
            rows.append(
                OwnedBooks.row(Int64(rows.count + 1), Array((jws ?? "").utf8), customers.randomElement(using: &random))
            )
        }
        for place in rows.indices where Int.random(in: 0..<3, using: &random) == 0 {
            if case .success(var claim) = rows[place].claim {
                claim.customer = nil
                rows[place].claim = .success(claim)
            }
        }
        let outcomes = try await books.take(rows, into: store)
        #expect(outcomes.allSatisfy { [.recorded, .known].contains($0.kind) })
        try await transfer(chains, books, store, &random)
        return chains
    }

    private static func chain(_ original: Int64, _ random: inout SeededRandom) throws -> [Transaction] {
        switch Int.random(in: 0...2, using: &random) {
        case 0: return [try OwnedBooks.sold(original, "coins")]
        case 1: return [try OwnedBooks.sold(original)]
        default:
            let first = Int64.random(in: -80 ... -5, using: &random)
            return try (0...Int64.random(in: 0...2, using: &random)).map { period in
                let product = Bool.random(using: &random) ? "monthly" : "yearly"
                return try OwnedBooks.sold(original + period, product, original: original, day: first + period * 30)
            }
        }
    }

    private static func transfer(
        _ chains: [(StoreEnvironment, Int64)],
        _ books: OwnedBooks,
        _ store: any Store,
        _ random: inout SeededRandom
    ) async throws {
        for (environment, original) in chains where Int.random(in: 0..<3, using: &random) == 0 {
            let realm = Realm(environment: environment, isTestSigned: true)
            let chain = ChainKey(
                app: books.app.id,
                realm: realm,
                original: try #require(TransactionID(number: original))
            )
            let customer = try #require(CustomerID(customers.randomElement(using: &random) ?? ""))
            // What is nobody's, or hers already, cannot become hers.
            _ = try await store.write { write throws(StoreFailure) in
                try LedgerRequests.transfer(chain, to: customer, isDryRun: false, at: OwnedBooks.now, in: write)
            }
        }
    }
}
