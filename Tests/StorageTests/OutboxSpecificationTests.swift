import Storage
import Testing

/// The memory store is the specification, also of what goes out of a store and of what is done later.
@Suite struct OutboxSpecificationTests {
    @Test(arguments: UInt64(0)..<60)
    func sqliteAnswersLikeMemory(seed: UInt64) async throws {
        try await StoreKind.sqlite.withStore { sqlite in
            let memory = MemoryStore()
            var verbs = OutboxVerbs(seed: seed)
            for step in 0..<200 {
                let verb = try verbs.next()
                let expected = await verb.perform(on: memory)
                let found = await verb.perform(on: sqlite)
                try #require(found == expected, "step \(step): \(verb)")
                verbs.learn(expected)
            }
        }
    }
}
