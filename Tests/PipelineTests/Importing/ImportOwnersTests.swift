import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing
import Verification

/// An export's rows, one by one: each transaction comes to the owner that its own row names.
@Suite struct ImportOwnersTests {
    private static func digits(_ number: Int64) -> [UInt8] { Array(String(number).utf8) }

    /// `kind reason`, or `kind`.
    private static func words(_ outcomes: [ImportOutcome]) -> [String] {
        outcomes.map { outcome in [outcome.kind.rawValue, outcome.reason].compactMap(\.self).joined(separator: " ") }
    }

    @Test func oneReceiptOfSeveralIsEachItsOwners() async throws {
        let (books, store) = (try OwnedBooks(), MemoryStore())
        let month = try OwnedBooks.sold(5, "monthly", original: 4, day: -2)
        let receipt = try OwnedBooks.receipt([
            OwnedBooks.sold(1), OwnedBooks.sold(2), OwnedBooks.sold(3), OwnedBooks.sold(4, "monthly", day: -32), month,
        ])
        let outcomes = try await books.take(
            [
                OwnedBooks.row(1, receipt, "ann", OwnedBooks.subject(1)),
                OwnedBooks.row(2, Self.digits(2), "bob", OwnedBooks.subject(2)),
                OwnedBooks.row(3, Self.digits(3), nil, OwnedBooks.subject(3)),
                OwnedBooks.row(4, Self.digits(4), "bob", OwnedBooks.subject(4)),
                OwnedBooks.row(5, Self.digits(5), "bob", OwnedBooks.subject(5)),
                OwnedBooks.row(6, Self.digits(1), "eve", OwnedBooks.subject(1)),
            ],
            into: store
        )
        #expect(
            Self.words(outcomes) == [
                "recorded", "recorded", "known no_customer", "recorded", "known", "known owned_by_another_customer",
            ]
        )
        #expect(outcomes[0].transactions.count == 5 && outcomes[1].transactions.count == 1)
        var owners: [String?] = []
        for original in Int64(1)...4 { owners.append(try await books.owner(of: original, store)) }
        #expect(owners == ["ann", "bob", nil, "bob"])
        #expect(try await books.rights(of: "bob", store).count == 2)
        #expect(try await books.rights(of: "ann", store).count == 1)
        // Each stands among its customer's purchases, and its proof is kept once.
        let app = books.app.id
        let (page, figures) = try await store.read { reader throws(StoreFailure) in
            let bob = CustomerID(checked: "bob")
            return (
                try reader.transactions(app: app, customer: bob, order: .oldestFirst, after: nil, limit: 9),
                try reader.figures()
            )
        }
        #expect(page.transactions.map(\.id.number) == [2, 4, 5])
        #expect(figures.evidence == 1 && figures.pendingSubmissions == 0)
    }

    /// Of other sources a receipt is the row's customer's, whole.
    @Test func anotherSourcesReceiptIsWholeItsCustomers() async throws {
        let (books, store) = (try OwnedBooks(), MemoryStore())
        let receipt = try OwnedBooks.receipt([OwnedBooks.sold(1), OwnedBooks.sold(2)])
        let rows = [OwnedBooks.row(1, receipt, "ann"), OwnedBooks.row(2, Self.digits(2), "bob")]
        #expect(Self.words(try await books.take(rows, into: store)).first == "recorded")
        #expect(try await books.owner(of: 2, store) == "ann")
    }

    @Test func whatIsNotRecordedOnItsSideOfTheWallIsAskedOrRefused() async throws {
        let receipt = try OwnedBooks.receipt([OwnedBooks.sold(1), OwnedBooks.sold(2)], in: .sandbox)
        let rows = [
            OwnedBooks.row(1, receipt, "ann", try OwnedBooks.subject(1, in: .sandbox)),
            OwnedBooks.row(2, Self.digits(1), "ann", try OwnedBooks.subject(1)),
            OwnedBooks.row(3, Self.digits(2), "bob", try OwnedBooks.subject(2, in: .sandbox)),
            OwnedBooks.row(4, Self.digits(9), "bob", try OwnedBooks.subject(9, in: .sandbox)),
            // Vouched for by another: also another side.
            OwnedBooks.row(
                5,
                Self.digits(2),
                "eve",
                ImportRow.Subject(
                    try #require(TransactionID(number: 2)),
                    in: Realm(environment: .sandbox, isTestSigned: false)
                )
            ),
        ]
        let books = try OwnedBooks()
        for (reach, word) in [(AppleReach.everything, "asked"), (.receipts, "refused"), (.nothing, "refused")] {
            let store = MemoryStore()
            let outcomes = try await books.take(rows, into: store, reach: reach)
            #expect(outcomes.map(\.kind.rawValue) == ["recorded", word, "recorded", word, word])
            #expect(try await books.owner(of: 2, in: .sandbox, store) == "bob")
            #expect(try await books.owner(of: 1, in: .sandbox, store) == "ann")
        }
    }

    /// A receipt that only Apple can decide may be several people's: Apple is asked about the row's transaction.
    @Test func whatOnlyAppleDecidesIsAskedByItsNumber() async throws {
        let (books, store) = (try OwnedBooks(), MemoryStore())
        let receipt = try StoreAuthority.one.get().receipt(OwnedBooks.sold(1))
        let rows = try [
            OwnedBooks.row(1, receipt, "ann", OwnedBooks.subject(1)),
            OwnedBooks.row(2, Self.digits(1), "ann", OwnedBooks.subject(1)),
        ]
        let outcomes = try await books.take(rows, into: store, reach: .everything)
        #expect(outcomes.map(\.kind) == [.asked, .known])
        let id = try #require(outcomes[0].submission)
        let kept = try await store.read { reader throws(StoreFailure) in try reader.submission(id) }
        #expect(kept?.submission.proof == Self.digits(1))
    }

    @Test func aProofOfOtherTransactionsIsNoRow() async throws {
        let (books, store) = (try OwnedBooks(), MemoryStore())
        let receipt = try OwnedBooks.receipt([OwnedBooks.sold(1), OwnedBooks.sold(2)])
        let rows = try [
            OwnedBooks.row(1, receipt, "ann", OwnedBooks.subject(3)),
            OwnedBooks.row(2, receipt, "ann", OwnedBooks.subject(1, in: .sandbox)),
        ]
        #expect(
            Self.words(try await books.take(rows, into: store))
                == Array(repeating: "invalid other_transaction", count: 2)
        )
        #expect(try await store.read { reader throws(StoreFailure) in try reader.figures() }.transactions == 0)
    }

    @Test func whatIsSomebodysStaysSo() async throws {
        let (books, store) = (try OwnedBooks(), MemoryStore())
        let receipt = try OwnedBooks.receipt([OwnedBooks.sold(1), OwnedBooks.sold(2)])
        _ = try await books.take([OwnedBooks.row(1, OwnedBooks.receipt([OwnedBooks.sold(2)]), "eve")], into: store)
        let outcomes = try await books.take(
            [
                OwnedBooks.row(1, receipt, "ann", OwnedBooks.subject(1)),
                OwnedBooks.row(2, Self.digits(2), "bob", OwnedBooks.subject(2)),
            ],
            into: store,
            as: 2
        )
        #expect(Self.words(outcomes) == ["recorded", "known owned_by_another_customer"])
        #expect(try await books.owner(of: 2, store) == "eve")
    }

    /// What one row tells and another claims touches a balance that neither of them names alone.
    @Test func whatIsStillToBeDeliveredIsGrantedToEach() async throws {
        let (books, store) = (try OwnedBooks(), MemoryStore())
        let coins = try OwnedBooks.receipt([OwnedBooks.sold(9, "coins")])
        _ = try await books.take([OwnedBooks.row(1, coins, "bob")], into: store, .here)
        let receipt = try OwnedBooks.receipt([
            OwnedBooks.sold(1, "coins"), OwnedBooks.sold(2), OwnedBooks.sold(3, "yearly", original: 2, day: -5),
        ])
        let outcomes = try await books.take(
            [
                OwnedBooks.row(1, receipt, "ann", OwnedBooks.subject(1)),
                OwnedBooks.row(2, Self.digits(2), "bob", OwnedBooks.subject(2)),
                OwnedBooks.row(3, Self.digits(3), "bob", OwnedBooks.subject(3)),
            ],
            into: store,
            .here,
            as: 2
        )
        #expect(outcomes.map(\.kind) == [.recorded, .recorded, .known])
        let app = books.app.id
        let (ann, bob) = try await store.read { reader throws(StoreFailure) in
            (
                try reader.wallets(app: app, customer: CustomerID(checked: "ann")).map(\.balance),
                try reader.wallets(app: app, customer: CustomerID(checked: "bob")).map(\.balance)
            )
        }
        #expect(ann == [100] && bob == [220])
        let before = try await books.export(store)
        let rows = [OwnedBooks.row(1, receipt, "ann", try OwnedBooks.subject(1))]
        _ = try await books.take(rows, into: store, .here, as: 3)
        #expect(try await books.export(store) == before)
    }

    @Test func aPlanKnowsWhatStandsInAProofBefore() async throws {
        let books = try OwnedBooks()
        let receipt = try OwnedBooks.receipt([OwnedBooks.sold(1), OwnedBooks.sold(2)])
        let rows = try [
            OwnedBooks.row(1, receipt, "ann", OwnedBooks.subject(1)),
            OwnedBooks.row(2, Self.digits(2), "bob", OwnedBooks.subject(2)),
            OwnedBooks.row(3, Self.digits(3), "bob", OwnedBooks.subject(3)),
            OwnedBooks.row(4, Self.digits(2), "bob", OwnedBooks.subject(2, in: .sandbox)),
        ]
        var plan = ImportPlan(
            app: books.app,
            verifier: try PipelineHouse.verifier(),
            reach: .everything,
            at: OwnedBooks.now
        )
        try await plan.look(at: rows, lanes: 2, known: nil)
        #expect((plan.genuine, plan.repeated, plan.needApple, plan.known) == (1, 1, 2, 0))
        var later = ImportPlan(
            app: books.app,
            verifier: try PipelineHouse.verifier(),
            reach: .everything,
            at: OwnedBooks.now
        )
        try await later.look(at: rows, lanes: 2) { .init(recorded: Set($0.keys.filter { $0.id.number == 3 })) }
        #expect((later.genuine, later.repeated, later.needApple, later.known) == (1, 1, 1, 1))
    }
}
