import PurchaseModel

/// A realm as a small number: what stands in rows and in the unique index.
///
/// The numbers are in files that exist: one is never given another meaning.
struct RealmCode: Hashable, Sendable {
    let number: Int64

    private static let environments: [StoreEnvironment] = [.production, .sandbox, .xcode, .localTesting]

    /// How many there are: their numbers are those from 0 up to it.
    static let count = environments.count * 2

    /// `nil` for an environment that has no code; such a transaction is never accepted.
    init?(_ realm: Realm) {
        guard let place = Self.environments.firstIndex(of: realm.environment) else { return nil }
        number = Int64(place * 2 + (realm.isTestSigned ? 1 : 0))
    }

    init(number: Int64) { self.number = number }

    /// The same to look for: a number of no row where there can be none.
    static func wanted(_ realm: Realm) -> Int64 { RealmCode(realm)?.number ?? -1 }

    /// `nil` when the number is not one of ours.
    var realm: Realm? {
        guard (0..<Int64(Self.count)).contains(number) else { return nil }
        return Realm(environment: Self.environments[Int(number / 2)], isTestSigned: number % 2 == 1)
    }
}
