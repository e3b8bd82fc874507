import PurchaseModel
import Storage
import Testing

/// What a store tells of writes that entitlements follow from.
@Suite struct EntitlementMarkTests {
    private static func chain(_ number: Int64) throws -> ChainKey {
        let key = try Samples.key(number)
        return ChainKey(app: key.app, realm: key.realm, original: key.id)
    }

    private static func row(_ chain: ChainKey, version: Int64) throws -> RecordedSubscription {
        RecordedSubscription(
            chain: chain,
            current: nil,
            renewal: nil,
            product: try #require(ProductID("pro.month")),
            group: nil,
            expiresAt: nil,
            graceEndsAt: nil,
            willAutoRenew: nil,
            state: .unknown,
            since: nil,
            nextLook: nil,
            lookedAt: Samples.now,
            version: version
        )
    }

    private static func write(_ decision: Decision, to store: any Store) async throws {
        try await store.write { write throws(StoreFailure) in try write.apply(decision, evidence: nil) }
    }

    @Test(arguments: StoreKind.allCases)
    func onlyWhoWritesAloneHasMarks(kind: StoreKind) async throws {
        try await kind.withStore { store in #expect((store.entitlementMarks == nil) == (kind == .postgresql)) }
    }

    @Test(arguments: [StoreKind.memory, .sqlite])
    func aWriteMarksWhatItTouchesAndAFailedOneHidesNothing(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let marks = try #require(store.entitlementMarks)
            let (chain, other) = (try Self.chain(1), try Self.chain(2))
            let ann = try Samples.customer("ann")
            let (place, anns) = (EntitlementMarks.Place(chain), EntitlementMarks.Place(app: chain.app, customer: ann))
            let start = marks.last
            #expect(marks.areUnchanged([place, anns], since: start))
            var decision = Decision()
            decision.subscriptions = [.insert(try Self.row(chain, version: 1))]
            try await Self.write(decision, to: store)
            #expect(!marks.areUnchanged([place], since: start) && marks.areUnchanged([place], since: marks.last))
            let before = marks.last
            // It is there already.
            await #expect(throws: StoreFailure.conflict) { try await Self.write(decision, to: store) }
            #expect(marks.areUnchanged([place], since: marks.last))
            var owned = Decision()
            owned.owners = [.insert(Owner(chain: other, customer: ann, since: Samples.now))]
            try await Self.write(owned, to: store)
            #expect(!marks.areUnchanged([anns], since: before))
            #expect(!marks.areUnchanged([EntitlementMarks.Place(other)], since: before))
        }
    }

    /// Two reads, one after the other, differ only if the marks say so before the second has ended.
    @Test(arguments: [StoreKind.memory, .sqlite])
    func whatIsUnchangedWasNotWritten(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let marks = try #require(store.entitlementMarks)
            let chain = try Self.chain(1)
            let places = [EntitlementMarks.Place(chain)]
            let (writes, readers) = (300, 3)
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask {
                    for version in 1...Int64(writes) {
                        var decision = Decision()
                        let row = try Self.row(chain, version: version)
                        decision.subscriptions = [version == 1 ? .insert(row) : .update(row)]
                        try await Self.write(decision, to: store)
                    }
                    return 0
                }
                for _ in 0..<readers {
                    group.addTask {
                        var unchanged = 0
                        var version: Int64 = 0
                        while version < writes || unchanged == 0 {
                            let write = marks.last
                            let first = try await Self.version(of: chain, in: store)
                            version = try await Self.version(of: chain, in: store)
                            guard marks.areUnchanged(places, since: write) else { continue }
                            #expect(first == version)
                            unchanged += 1
                        }
                        return unchanged
                    }
                }
                var unchanged = 0
                for try await count in group { unchanged += count }
                #expect(unchanged >= readers, "each sees the last one twice")
            }
        }
    }

    private static func version(of chain: ChainKey, in store: any Store) async throws -> Int64 {
        try await store.read { reader throws(StoreFailure) in try reader.subscriptions([chain]).first?.version ?? 0 }
    }
}
