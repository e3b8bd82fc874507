import PurchaseModel
import Storage
import TestSupport
import Testing

/// What waits for whoever comes to have it, and whoever comes, do not miss each other.
@Suite struct VacancyTests {
    /// Who decides first from an empty ledger, and who from the same one, though the first is written by then.
    @Test(arguments: StoreKind.allCases, [true, false])
    func whoeverClaimsAChainAndWhoeverLeavesSomethingThereSeeEachOther(
        kind: StoreKind,
        isClaimedFirst: Bool
    ) async throws {
        try await kind.withStore { store in
            let proofs = [try Self.period(1, customer: "ann"), try Self.period(2, customer: nil)]
            let (first, second) = isClaimedFirst ? (proofs[0], proofs[1]) : (proofs[1], proofs[0])
            try await Self.write(decide(Situation(), first, at: Samples.now), store)
            await #expect(throws: StoreFailure.conflict) {
                try await Self.write(decide(Situation(), second, at: Samples.now), store)
            }
            try await Self.record(second, store)
            #expect(try await Self.customers(store) == ["ann", "ann"])
        }
    }

    /// Each thing that is left there is seen, and not the first alone.
    @Test(arguments: StoreKind.allCases)
    func whatIsLeftLaterIsSeenAsWell(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await Self.record(try Self.period(1, customer: nil), store)
            let claim = try Self.period(3, customer: "ann")
            let late = try await store.read { reader throws(StoreFailure) in try reader.situation(around: [claim]) }
            try await Self.record(try Self.period(2, customer: nil), store)
            await #expect(throws: StoreFailure.conflict) {
                try await Self.write(decide(late, claim, at: Samples.now), store)
            }
            try await Self.record(claim, store)
            #expect(try await Self.customers(store) == ["ann", "ann", "ann"])
            let chain = claim.chain(of: claim.transactions[0])
            let owner = try await store.read { reader throws(StoreFailure) in try reader.owners([chain]) }
            #expect(owner.map(\.version) == [3])
        }
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func whoeverIsKnownByATokenAndWhatNamesItSeeEachOther(kind: StoreKind, isPlacedFirst: Bool) async throws {
        try await kind.withStore { store in
            let token = AccountToken(high: 1, low: 2)
            let order = try Samples.order(token: token)
            let heard = try Self.period(1, customer: nil, token: token)
            let placed = try decide(Situation(), placing: order, terms: AppTerms(), at: Samples.now)
            let left = decide(Situation(), heard, at: Samples.now)
            try await Self.write(isPlacedFirst ? placed : left, store)
            await #expect(throws: StoreFailure.conflict) { try await Self.write(isPlacedFirst ? left : placed, store) }
            if isPlacedFirst {
                try await Self.record(heard, store)
            } else {
                try await Self.place(order, AppTerms(), store)
            }
            #expect(try await Self.customers(store) == ["ann"])
            let orders = try await store.read { reader throws(StoreFailure) in try reader.orders([order.key]) }
            #expect(orders.first?.state == .paid)
        }
    }

    /// A receipt names no token, and old books no customer.
    @Test(arguments: StoreKind.allCases, [RecordingSource.imported, .presented])
    func whatWaitsByATokenIsHeardOfAgainWithoutIt(kind: StoreKind, source: RecordingSource) async throws {
        try await kind.withStore { store in
            try await Self.record(try Self.period(1, customer: nil, token: AccountToken(high: 1, low: 2)), store)
            var again = try Self.period(1, customer: nil)
            again.source = source
            try await Self.record(again, store)
            try await Self.record(try Self.period(2, customer: nil), store)
            try await Self.record(try Self.period(1, customer: "ann"), store)
            #expect(try await Self.customers(store) == ["ann", "ann"])
        }
    }

    /// However much of it there is, it does not hide what an order may have.
    @Test(arguments: StoreKind.allCases)
    func whatOnlyHistoryTellsOfIsNotLookedForByAToken(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let token = AccountToken(high: 1, low: 2)
            for number in Int64(1)...3 {
                var told = try Self.period(number, customer: nil, token: token)
                if number != 2 { told.source = .history }
                try await Self.record(told, store)
            }
            let wish = WishKey(
                app: try Samples.app(),
                customer: try Samples.customer("ann"),
                product: try #require(ProductID("coins.100"))
            )
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.waitingFulfilments(for: wish, tokens: [token], limit: 1)
            }
            #expect(found.map(\.transaction.id.number) == [2])
            let all = try await store.read { reader throws(StoreFailure) in
                try reader.waitingFulfilments(app: wish.app, on: nil, after: nil, limit: 10)
            }
            #expect(all.fulfilments.map(\.reason) == [.fromHistory, .noCustomer, .fromHistory])
        }
    }

    /// Nor does what a tester has bought in the sandbox hide what she has paid for, nor that what was signed for the order.
    @Test(arguments: StoreKind.allCases)
    func whatPaysAnOrderIsFoundBeforeWhatOnlyWaits(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let token = AccountToken(high: 1, low: 2)
            let sandbox = Realm(environment: .sandbox, isTestSigned: false)
            let rows: [(number: Int64, realm: Realm, day: Int64, customer: String, token: AccountToken?)] = [
                (1, sandbox, 1, "ann", nil), (2, sandbox, 0, "ann", nil), (3, Samples.production, 5, "ann", nil),
                (4, Samples.production, 4, "ann", nil), (5, sandbox, 0, "ann", token),
                (6, Samples.production, 9, "ann", token), (7, Samples.production, 8, "bob", token),
                (8, Samples.production, 0, "bob", nil),
            ]
            for row in rows {
                var sold = try Samples.transaction(row.number)
                sold.kind = .consumable
                sold.purchasedAt = Samples.now.advanced(by: .seconds((row.day - 10) * 86_400))
                sold.accountToken = row.token
                let recording = Recording(
                    app: try Samples.app(),
                    realm: row.realm,
                    transactions: [sold],
                    customer: try Samples.customer(row.customer),
                    terms: AppTerms(needsOrder: true)
                )
                try await Self.record(recording, store)
            }
            let wish = WishKey(
                app: try Samples.app(),
                customer: try Samples.customer("ann"),
                product: try #require(ProductID("coins.100"))
            )
            let inTurn: [Int64] = [7, 6, 5, 4, 3, 2, 1]
            let table: [([AccountToken], [Int64])] = [
                ([token], inTurn), ([token, token], inTurn), ([], [4, 3, 6, 2, 5, 1]),
            ]
            for (tokens, expected) in table {
                for limit in [1, 2, 3, 4, 9] {
                    let found = try await store.read { reader throws(StoreFailure) in
                        try reader.waitingFulfilments(for: wish, tokens: tokens, limit: limit)
                    }
                    #expect(found.map(\.transaction.id.number) == Array(expected.prefix(limit)), "\(limit)")
                }
            }
        }
    }

    /// What is on another side of the wall fills no page of what waits, and is no place in it.
    @Test(arguments: StoreKind.allCases)
    func whatWaitsIsListedOnTheSidesThatAreNamed(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let sandbox = Realm(environment: .sandbox, isTestSigned: false)
            let app = try Samples.app()
            for number in Int64(1)...7 {
                let realm = number % 3 == 1 ? Samples.production : sandbox
                let sold = [try Samples.transaction(number)]
                try await Self.record(Recording(app: app, realm: realm, transactions: sold), store)
            }
            let table: [(Set<Realm>?, [Int64])] = [
                (nil, [1, 2, 3, 4, 5, 6, 7]), ([Samples.production], [1, 4, 7]), ([sandbox], [2, 3, 5, 6]), ([], []),
            ]
            for (sides, numbers) in table {
                for limit in [1, 2, 9] {
                    var (found, place) = ([FulfilmentPage](), FulfilmentCursor?.none)
                    repeat {
                        let after = place
                        let page = try await store.read { reader throws(StoreFailure) in
                            try reader.waitingFulfilments(app: app, on: sides, after: after, limit: limit)
                        }
                        found.append(page)
                        place = page.next
                    } while place != nil
                    #expect(found.flatMap(\.fulfilments).map(\.transaction.id.number) == numbers)
                    #expect(found.dropLast().allSatisfy { $0.fulfilments.count == limit })
                }
            }
        }
    }

    /// What Apple tells in between does not make it anybody's: that is kept with it.
    @Test(arguments: StoreKind.allCases)
    func whatOnlyHistoryTellsOfIsKnownForThatWhileItIsTakenBack(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var told = try Self.period(1, customer: nil, token: AccountToken(high: 1, low: 2))
            var read: [Fulfilment] = []
            for step in Int64(0)...2 {
                told.source = step == 0 ? .history : .presented
                told.isLookedUp = step > 0
                told.transactions[0].signedAt = Samples.now.advanced(by: .seconds(step * 60))
                told.transactions[0].revocation = step == 1 ? Revocation(at: told.transactions[0].signedAt) : nil
                try await Self.record(told, store)
                let chain = told.chain(of: told.transactions[0])
                read += try await store.read { reader throws(StoreFailure) in try reader.fulfilments([chain]) }
            }
            #expect(read.map(\.isOfHistory) == [true, true, true])
            #expect(read.map(\.reason) == [.fromHistory, .revoked, .fromHistory])
        }
    }

    /// Bob had a copy of it first; whoever places an order with the token that Apple signed, even as he shows it, has it.
    @Test(arguments: StoreKind.allCases, [true, false])
    func whatWaitsInOtherHandsIsLookedForByItsToken(kind: StoreKind, isPlacedFirst: Bool) async throws {
        try await kind.withStore { store in
            let token = AccountToken(high: 1, low: 2)
            var shown = try Self.period(1, customer: "bob", token: token)
            shown.terms = AppTerms(needsOrder: true)
            let order = try Samples.order(token: token)
            let (none, terms) = (Situation(), shown.terms)
            let placed = try decide(none, placing: order, terms: terms, at: Samples.now)
            let kept = decide(none, shown, at: Samples.now)
            try await Self.write(isPlacedFirst ? placed : kept, store)
            await #expect(throws: StoreFailure.conflict) {
                try await Self.write(isPlacedFirst ? kept : placed, store)
            }
            if isPlacedFirst {
                try await Self.record(shown, store)
            } else {
                try await Self.place(order, terms, store)
            }
            #expect(try await Self.customers(store) == ["ann"])
        }
    }

    /// A period of the subscription that began with the first one, told by Apple or presented by somebody.
    private static func period(_ number: Int64, customer: String?, token: AccountToken? = nil) throws -> Recording {
        var transaction = try Samples.transaction(number)
        transaction.originalID = TransactionID(number: 1)
        transaction.kind = .autoRenewable
        transaction.purchasedAt = Samples.now.advanced(by: .seconds((number - 1) * 86_400))
        transaction.expiresAt = Samples.now.advanced(by: .seconds(number * 86_400))
        transaction.accountToken = token
        return Recording(
            app: try Samples.app(),
            realm: Samples.production,
            transactions: [transaction],
            customer: try customer.map { try Samples.customer($0) }
        )
    }

    private static func place(_ order: Order, _ terms: AppTerms, _ store: any Store) async throws {
        try await store.write { write throws(StoreFailure) in
            let situation = try write.situation(placing: order, customerToken: nil, terms)
            let decision = Result { () throws(RequestFault) in
                try decide(situation, placing: order, terms: terms, at: Samples.now)
            }
            if case .success(let decision) = decision { try write.apply(decision, evidence: nil) }
        }
    }

    private static func write(_ decision: Decision, _ store: any Store) async throws {
        let evidence = try Samples.evidence()
        try await store.write { write throws(StoreFailure) in try write.apply(decision, evidence: evidence) }
    }

    private static func record(_ recording: Recording, _ store: any Store) async throws {
        try await Purchases.record([recording], try Samples.evidence(), in: store)
    }

    /// Who has each of the first three periods, as far as they are granted.
    private static func customers(_ store: any Store) async throws -> [String] {
        let chain = try period(1, customer: nil)
        return try await store.read { reader throws(StoreFailure) in
            try reader.fulfilments([chain.chain(of: chain.transactions[0])])
        }.filter { $0.state == .granted }.compactMap { $0.customer?.text }
    }
}
