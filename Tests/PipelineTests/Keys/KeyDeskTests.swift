import Crypto
import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// Whoever makes keys at the same time, on whatever server: a name is one key's.
@Suite struct KeyDeskTests {
    @Test(
        .enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"),
        arguments: PostgreSQLSettings.Isolation.allCases
    )
    func twoServersGiveANameOnce(isolation: PostgreSQLSettings.Isolation) async throws {
        try await Tampering.withSchema { settings in
            var settings = settings
            (settings.isolation, settings.writers, settings.attemptsMax) = (isolation, 4, 100)
            let stores = [try await PostgreSQLStore.open(settings), try await PostgreSQLStore.open(settings)]
            for round in 0..<8 {
                let wish = try Self.wish("backend-\(round)")
                let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for client in 0..<8 {
                        let store = stores[client % 2]
                        group.addTask { try await Self.create(wish, in: store) == nil }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(made == 1)
            }
            let kept = try await stores[0].read { reader throws(StoreFailure) in
                try reader.apiKeysInForce(at: PipelineHouse.now).map(\.name).sorted()
            }
            #expect(kept == (0..<8).map { "backend-\($0)" })
            for store in stores { await store.close() }
        }
    }

    /// Also when more keys than are listed were made and ended since.
    @Test func aNameIsTakenWhileItsKeyIsInForce() async throws {
        let store = MemoryStore()
        #expect(try await Self.create(Self.wish("first"), in: store) == nil)
        for _ in 0..<APIKeyRow.listedMax { try await Self.comeAndGo("second", in: store) }
        #expect(try await Self.create(Self.wish("first"), in: store) == .nameTaken)
        #expect(try await Self.create(Self.wish("second"), in: store) == nil)
    }

    /// Once they could not be read for long, whether a key was revoked is not known: nobody gets in, and nobody is turned away.
    @Test func whatIsDoubtedOpensNothingUntilItIsReadAgain() async throws {
        let (store, given, now) = (MemoryStore(), Array("given".utf8), PipelineHouse.now)
        let holder = KeyRing.Holder(name: "of the configuration", app: try #require(AppID("shop")))
        let ring = KeyRing([Digest.sha256(given): APIKey(holder)], isComplete: false)
        let (desk, wish, asking) = (KeyDesk(ring: ring), try Self.wish("stored"), try Self.asking())
        let made = try await store.write { write throws(StoreFailure) in try desk.create(wish, asking, in: write) }
        let secret = Array(try made.get().secret.utf8)
        try await ring.reload(from: store, at: now)
        #expect(ring.key(secret, at: now) != nil && ring.isComplete)
        ring.doubt()
        #expect(ring.key(secret, at: now) == nil && !ring.isComplete)
        #expect(ring.key(given, at: now) != nil)
        try await ring.reload(from: store, at: now)
        #expect(ring.key(secret, at: now) != nil && ring.isComplete)
    }

    private static func wish(_ name: String) throws -> KeyWish {
        try KeyWish(name: name, kind: "secret", scopes: nil, environments: nil, days: nil, by: nil)
    }

    private static func asking(_ now: Timestamp = PipelineHouse.now) throws -> KeyDesk.Asking {
        KeyDesk.Asking(app: try #require(AppID("game")), name: "root", now: now)
    }

    /// - Returns: why none was made; `nil` when one was.
    private static func create(_ wish: KeyWish, in store: any Store) async throws -> KeyDesk.Fault? {
        let (desk, asking) = (KeyDesk(ring: KeyRing([:])), try asking())
        let made = try await store.write { write throws(StoreFailure) in try desk.create(wish, asking, in: write) }
        if case .failure(let fault) = made { return fault }
        return nil
    }

    private static func comeAndGo(_ name: String, in store: any Store) async throws {
        let (desk, asking) = (KeyDesk(ring: KeyRing([:])), try asking(PipelineHouse.now.advanced(by: .seconds(1))))
        let wish = try wish(name)
        try await store.write { write throws(StoreFailure) in
            guard case .success(let made) = try desk.create(wish, asking, in: write) else { return }
            _ = try KeyDesk.revoke(made.row.id, asking, in: write)
        }
    }
}
