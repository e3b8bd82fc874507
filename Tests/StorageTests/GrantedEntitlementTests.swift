import PurchaseModel
import Storage
import Testing

/// What is kept of entitlements that were granted by hand.
@Suite struct GrantedEntitlementTests {
    private static let test = Realm(environment: .sandbox, isTestSigned: true)

    private static func row(
        _ entitlement: String,
        _ realm: Realm = Samples.production,
        until: Timestamp? = nil,
        reason: String? = nil,
        version: Int64 = 1
    ) throws -> GrantedEntitlement {
        GrantedEntitlement(
            key: GrantedEntitlementKey(
                app: try Samples.app(),
                realm: realm,
                customer: try Samples.customer("ann"),
                entitlement: try #require(EntitlementID(entitlement))
            ),
            until: until,
            isRevoked: version == 2,
            changedAt: Timestamp(milliseconds: version),
            motive: Motive(actor: "dashboard/olga", reason: reason),
            version: version
        )
    }

    private static func write(_ store: any Store, _ changes: RowChange<GrantedEntitlement>...) async throws {
        var decision = Decision()
        decision.grantedEntitlements = changes
        let written = decision
        try await store.write { write throws(StoreFailure) in try write.apply(written, evidence: nil) }
    }

    private static func list(_ store: any Store, _ customer: String = "ann") async throws -> [GrantedEntitlement] {
        let (app, customer) = (try Samples.app(), try Samples.customer(customer))
        return try await store.read { reader throws(StoreFailure) in
            try reader.grantedEntitlements(app: app, customer: customer)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theLastChangeOfEachIsKept(kind: StoreKind) async throws {
        try await kind.withStore { store in
            #expect(try await Self.list(store).isEmpty)
            let first = try Self.row("pro", until: Samples.now, reason: "the outage")
            let (plus, sandbox) = (try Self.row("plus"), try Self.row("pro", Self.test))
            try await Self.write(store, .insert(sandbox), .insert(first), .insert(plus))
            #expect(try await Self.list(store) == [plus, first, sandbox])
            let second = try Self.row("pro", version: 2)
            try await Self.write(store, .update(second))
            #expect(try await Self.list(store) == [plus, second, sandbox])
            #expect(try await Self.list(store, "bob").isEmpty)
            let keys = [second.key, sandbox.key, try Self.row("none").key]
            let found = try await store.read { reader throws(StoreFailure) in try reader.grantedEntitlements(keys) }
            #expect(Set(found) == [second, sandbox])
            // Somebody else was faster.
            await #expect(throws: StoreFailure.conflict) { try await Self.write(store, .update(second)) }
            await #expect(throws: StoreFailure.conflict) { try await Self.write(store, .insert(first)) }
            #expect(try await Self.list(store) == [plus, second, sandbox])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theyAreWalkedInPages(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let rows = try (1...7).map { try Self.row("e\($0)") }
            for row in rows { try await Self.write(store, .insert(row)) }
            let app = try Samples.app()
            let (apps, found) = try await store.read { reader throws(StoreFailure) in
                var found: [GrantedEntitlement] = []
                var place: WalkPlace?
                repeat {
                    let page = try reader.walkGrantedEntitlements(app: app, after: place, limit: 3)
                    found += page.rows
                    place = page.next
                } while place != nil
                return (try reader.knownApps(), found)
            }
            #expect(apps == [app])
            #expect(found == rows)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatNoStoreHoldsIsRefused(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let bad = try Self.row("pro", reason: "a\0b")
            await #expect(throws: StoreFailure.unstorable) { try await Self.write(store, .insert(bad)) }
            #expect(try await Self.list(store).isEmpty)
        }
    }
}
