import PurchaseModel
import Storage
import Testing

/// API keys.
@Suite struct APIKeyTests {
    @Test(arguments: StoreKind.allCases)
    func aKeyIsFoundUntilItIsOver(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var ending = try Self.key(1, at: 10)
            ending.expiresAt = Timestamp(milliseconds: 100)
            let (first, lasting, foreign) = (ending, try Self.key(2, at: 20), try Self.key(3, at: 30, app: "other"))
            try await store.write { write throws(StoreFailure) in
                for key in [first, lasting, foreign] { try write.addAPIKey(key) }
            }
            #expect(try await Self.inForce(99, in: store) == [first.id, lasting.id, foreign.id])
            #expect(try await Self.inForce(100, in: store) == [lasting.id, foreign.id])
            let listed = try await store.read { reader throws(StoreFailure) in
                try reader.apiKeys(app: first.app, at: Timestamp(milliseconds: 0))
            }
            #expect(listed == [lasting, first])
            var revoked = lasting
            revoked.revokedAt = Timestamp(milliseconds: 50)
            let over = revoked
            try await store.write { write throws(StoreFailure) in try write.endAPIKey(over) }
            #expect(try await Self.inForce(99, in: store) == [first.id, foreign.id])
            let found = try await store.read { reader throws(StoreFailure) in try reader.apiKey(lasting.id) }
            #expect(found?.revokedAt == over.revokedAt && found?.version == 2)
        }
    }

    /// All that are in force are held and listed, however many came and went since.
    @Test(arguments: StoreKind.allCases)
    func thoseOfAnAppAreHeldWhole(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var ending = try Self.key(1, at: 10)
            ending.expiresAt = Timestamp(milliseconds: 100)
            let (first, lasting, foreign) = (ending, try Self.key(2, at: 20), try Self.key(3, at: 30, app: "other"))
            let over = try (0..<APIKeyRow.listedMax).map { number in
                var key = try Self.key("over\(number)", at: 40, secret: Array("\(number)".utf8))
                key.revokedAt = Timestamp(milliseconds: 50)
                return key
            }
            let held = try await store.write { write throws(StoreFailure) in
                let none = try write.holdAPIKeys(app: first.app, at: Timestamp(milliseconds: 0))
                for key in [first, lasting, foreign] + over { try write.addAPIKey(key) }
                let before = try write.holdAPIKeys(app: first.app, at: Timestamp(milliseconds: 99))
                return [none, before, try write.holdAPIKeys(app: first.app, at: Timestamp(milliseconds: 100))]
            }
            #expect(held.map { Set($0) } == [[], [first, lasting], [lasting]])
            let listed = try await store.read { reader throws(StoreFailure) in
                [
                    try reader.apiKeys(app: first.app, at: Timestamp(milliseconds: 99)),
                    try reader.apiKeys(app: first.app, at: Timestamp(milliseconds: 100)),
                ]
            }
            let newest = over.sorted { $0.id.text.utf8.lexicographicallyPrecedes($1.id.text.utf8) }
            #expect(listed == [newest + [lasting, first], newest + [lasting]])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatIsTakenOrChangedMeanwhileIsAConflict(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let key = try Self.key(1, at: 10)
            try await store.write { write throws(StoreFailure) in try write.addAPIKey(key) }
            let sameSecret = try Self.key(2, at: 10, secret: 1)
            for row in [key, sameSecret] {
                await #expect(throws: StoreFailure.conflict) {
                    try await store.write { write throws(StoreFailure) in try write.addAPIKey(row) }
                }
            }
            var stale = key
            stale.version = 2
            let other = stale
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { write throws(StoreFailure) in try write.endAPIKey(other) }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func itsLastUseOnlyGrows(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let key = try Self.key(1, at: 10)
            let unknown = try Self.key(9, at: 10).id
            try await store.write { write throws(StoreFailure) in
                try write.addAPIKey(key)
                try write.noteAPIKeyUse(unknown, at: Timestamp(milliseconds: 5))
                for moment in [70, 90, 80] {
                    try write.noteAPIKeyUse(key.id, at: Timestamp(milliseconds: Int64(moment)))
                }
            }
            let found = try await store.read { reader throws(StoreFailure) in try reader.apiKey(key.id) }
            #expect(found?.lastUsedAt == Timestamp(milliseconds: 90))
            #expect(found?.version == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func oneIsFoundByItsSecretWhileItIsInForce(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var (ending, revoked) = (try Self.key(1, at: 10), try Self.key(2, at: 10))
            ending.expiresAt = Timestamp(milliseconds: 50)
            revoked.revokedAt = Timestamp(milliseconds: 20)
            let keys = [ending, revoked, try Self.key(3, at: 10)]
            try await store.write { write throws(StoreFailure) in for key in keys { try write.addAPIKey(key) } }
            let found = try await store.read { reader throws(StoreFailure) in
                try [Int64(49), 50].map { moment throws(StoreFailure) in
                    try keys.map { key throws(StoreFailure) in
                        let now = Timestamp(milliseconds: moment)
                        return try reader.apiKeyInForce(sha256: key.sha256, at: now)?.id
                    }
                }
            }
            #expect(found == [[keys[0].id, nil, keys[2].id], [nil, nil, keys[2].id]])
            let none = try await store.read { reader throws(StoreFailure) in
                try reader.apiKeyInForce(sha256: [UInt8](repeating: 9, count: 32), at: Timestamp(milliseconds: 1))
            }
            #expect(none == nil)
        }
    }

    private static func inForce(_ moment: Int64, in store: any Store) async throws -> [APIKeyID] {
        let found = try await store.read { reader throws(StoreFailure) in
            try reader.apiKeysInForce(at: Timestamp(milliseconds: moment))
        }
        return found.map(\.id).sorted { $0.text < $1.text }
    }

    private static func key(
        _ number: UInt8,
        at moment: Int64,
        app: String = "game",
        secret: UInt8? = nil
    ) throws -> APIKeyRow {
        let environments = number == 1 ? ["sandbox"] : nil
        return try key("\(number)", at: moment, app: app, secret: [secret ?? number], environments)
    }

    /// One whose SHA-256 begins with some bytes; the rest are zeros.
    private static func key(
        _ name: String,
        at moment: Int64,
        app: String = "game",
        secret: [UInt8],
        _ environments: [String]? = nil
    ) throws -> APIKeyRow {
        APIKeyRow(
            id: try #require(APIKeyID("key_\(name)")),
            app: try #require(AppID(app)),
            name: "backend",
            kind: "secret",
            scopes: ["read", "submit"],
            environments: environments,
            sha256: secret + [UInt8](repeating: 0, count: 32 - secret.count),
            hint: "ab12",
            createdAt: Timestamp(milliseconds: moment),
            createdBy: "root"
        )
    }
}
