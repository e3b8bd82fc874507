import Storage
import Testing

/// The memory store is the specification, also of what goes out of a store and of what is done later.
@Suite struct OutboxSpecificationTests {
    @Test(arguments: StoreKind.allCases.filter { $0 != .memory }, UInt64(0)..<40)
    func everyStoreAnswersLikeMemory(kind: StoreKind, seed: UInt64) async throws {
        try await kind.withStore { store in
            let memory = MemoryStore()
            var verbs = OutboxVerbs(seed: seed)
            for step in 0..<200 {
                let verb = try verbs.next()
                let expected = await verb.perform(on: memory)
                let found = await verb.perform(on: store)
                try #require(found == expected, "step \(step): \(verb)")
                verbs.learn(expected)
            }
        }
    }
}
