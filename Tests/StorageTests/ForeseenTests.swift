import PurchaseModel
import Storage
import TestSupport
import Testing

/// Questions that are asked before they come give what they would have given when they come.
@Suite struct ForeseenTests {
    @Test(arguments: StoreKind.allCases) func whatIsForeseenIsFound(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (first, second) = (try Self.order("o-1"), try Self.order("o-2"))
            try await Self.place([first, second], store)
            let token = try #require(first.accountToken)
            let key = TokenKey(app: first.app, token: token)
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.foresee { () throws(StoreFailure) in
                    _ = try reader.orders([second.key])
                    _ = try reader.owners(of: [key])
                    _ = try reader.openOrders(tokens: [key])
                }
                return (
                    try reader.orders([second.key]), try reader.owners(of: [key]),
                    try reader.openOrders(tokens: [key])
                )
            }
            #expect(found.0.map(\.id.text) == ["o-2"])
            #expect(found.1.map(\.customer?.text) == ["ann"])
            #expect(found.2.map(\.id.text).sorted() == ["o-1", "o-2"])
        }
    }

    /// Something else is asked, or asked again, or the same of something else.
    @Test(arguments: StoreKind.allCases) func anotherQuestionIsNotAnsweredByIt(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (first, second) = (try Self.order("o-1"), try Self.order("o-2"))
            try await Self.place([first, second], store)
            let found = try await store.read { reader throws(StoreFailure) in
                var found: [[Order]] = []
                try reader.foresee { () throws(StoreFailure) in
                    _ = try reader.orders([first.key])
                    _ = try reader.orders([first.key, second.key])
                }
                found.append(try reader.orders([second.key]))
                found.append(try reader.orders([first.key, second.key]))
                try reader.foresee { () throws(StoreFailure) in
                    _ = try reader.orders([first.key])
                    _ = try reader.orders([second.key])
                }
                found.append(try reader.orders([first.key]))
                found.append(try reader.orders([first.key]))
                found.append(try reader.orders([second.key]))
                return found
            }
            let names = found.map { orders in orders.map(\.id.text).sorted() }
            #expect(names == [["o-2"], ["o-1", "o-2"], ["o-1"], ["o-1"], ["o-2"]])
        }
    }

    /// What is written after it was foreseen is seen by who asks then.
    @Test(arguments: StoreKind.allCases, [true, false])
    func whatIsWrittenMeanwhileIsSeen(kind: StoreKind, isAskedFirst: Bool) async throws {
        try await kind.withStore { store in
            let (first, second) = (try Self.order("o-1"), try Self.order("o-2"))
            try await Self.place([first], store)
            let decision = try await Self.decided(second, store)
            let found = try await store.write { write throws(StoreFailure) in
                try write.foresee { () throws(StoreFailure) in
                    _ = try write.orders([first.key])
                    _ = try write.orders([second.key])
                }
                if isAskedFirst { _ = try write.orders([first.key]) }
                try write.apply(decision, evidence: nil)
                if !isAskedFirst { _ = try write.orders([first.key]) }
                return try write.orders([second.key])
            }
            #expect(found.map(\.id.text) == ["o-2"])
        }
    }

    /// Of the rows that are sent together the second one's are refused: nothing of the first stays, and the connection serves
    /// whoever comes next.
    @Test(arguments: StoreKind.allCases) func whatIsSentTogetherIsKeptTogether(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (first, second) = (try Self.order("o-1"), try Self.order("o-2"))
            try await Self.place([first], store)
            // It was decided when nobody was known by the token.
            let decision = try decide(
                Situation(),
                placing: second,
                terms: AppTerms(),
                at: Samples.now
            )
            #expect(decision.tokens.count == 1)
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { write throws(StoreFailure) in try write.apply(decision, evidence: nil) }
            }
            let kept = try await store.read { reader throws(StoreFailure) in
                try reader.orders([first.key, second.key])
            }
            #expect(kept.map(\.id.text) == ["o-1"])
            try await Self.place([second], store)
        }
    }

    private static func order(_ id: String) throws -> Order {
        try Samples.order(id, token: AccountToken(high: 1, low: 2))
    }

    private static func decided(_ order: Order, _ store: any Store) async throws -> Decision {
        let situation = try await store.read { reader throws(StoreFailure) in
            try reader.situation(placing: order, customerToken: nil, AppTerms())
        }
        return try decide(situation, placing: order, terms: AppTerms(), at: Samples.now)
    }

    private static func place(_ orders: [Order], _ store: any Store) async throws {
        for order in orders {
            let decision = try await decided(order, store)
            try await store.write { write throws(StoreFailure) in try write.apply(decision, evidence: nil) }
        }
    }
}
