import PurchaseModel

/// What a new key is to be, checked.
package struct KeyWish: Hashable, Sendable {
    /// What is wrong with it, by the name that its part has in the API.
    package struct Fault: Error, Hashable, Sendable {
        package let field: String
        package let detail: String
        /// Whether it is well said, and more than the key that makes it has.
        package let isMoreThanOwn: Bool

        package init(_ field: String, _ detail: String) {
            self.field = field
            self.detail = detail
            isMoreThanOwn = false
        }

        fileprivate init(moreThanOwn field: String) {
            self.field = field
            detail = "No key gives more than it has."
            isMoreThanOwn = true
        }
    }

    package static let daysRange: ClosedRange<Int64> = 1...3_650
    /// What a secret key may do that nobody said more of: all but making others.
    private static let standard = KeyKind.secret.scopes.subtracting([.keys])

    package let name: String
    package let kind: KeyKind
    package let scopes: Set<Scope>
    package let environments: [String]?
    package let days: Int64?

    /// - Parameters:
    ///   - name: who is to hold it.
    ///   - kind: the word for it.
    ///   - scopes: what it may do; `nil` for what is usual.
    ///   - environments: the stores whose proofs it may bring; `nil` for all.
    ///   - days: after how many it ends; `nil` for never.
    ///   - giver: the key that makes it, which gives no more than it has; `nil` for who has everything.
    /// - Throws: the first thing that is wrong.
    package init(
        name: String,
        kind: String,
        scopes: [String]?,
        environments: [String]?,
        days: Int64?,
        by giver: APIKey?
    ) throws(Fault) {
        self.name = try Self.name(name)
        guard let kind = KeyKind(rawValue: kind) else { throw Fault("kind", "publishable or secret is needed.") }
        self.kind = kind
        let stores = try Self.environments(environments, giver)
        let usual = kind.scopes(in: stores.map { Set($0.map(StoreEnvironment.init(rawValue:))) })
        self.environments = stores
        self.scopes = try Self.scopes(scopes, kind, giver, usual: usual.intersection(Self.standard))
        guard days.map(Self.daysRange.contains) ?? true else {
            throw Fault("expires_in_days", "A whole number from 1 to \(Self.daysRange.upperBound) is needed.")
        }
        self.days = days
    }

    /// How the names of those begin who act on the dashboard.
    package static let dashboardPrefix = "dashboard/"

    /// It stands in log lines and listings.
    private static func name(_ text: String) throws(Fault) -> String {
        guard (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") })
        else { throw Fault("name", "1 to 64 printable ASCII characters, without spaces and commas.") }
        guard !text.hasPrefix(dashboardPrefix) else { throw Fault("name", "\(dashboardPrefix)… is an operator.") }
        return text
    }

    private static func scopes(
        _ words: [String]?,
        _ kind: KeyKind,
        _ giver: APIKey?,
        usual: Set<Scope>
    ) throws(Fault) -> Set<Scope> {
        guard let words else {
            let given = giver.map { usual.intersection($0.scopes) } ?? usual
            // It would open nothing.
            guard !given.isEmpty else { throw Fault(moreThanOwn: "scopes") }
            return given
        }
        let scopes = Set(words.compactMap(Scope.init(rawValue:)))
        guard !words.isEmpty, scopes.count == words.count, scopes.isSubset(of: kind.scopes) else {
            let known = kind.scopes.map(\.rawValue).sorted().joined(separator: ", ")
            throw Fault("scopes", "Some of \(known), each once.")
        }
        guard giver.map({ scopes.isSubset(of: $0.scopes) }) ?? true else {
            throw Fault(moreThanOwn: "scopes")
        }
        return scopes
    }

    private static func environments(_ words: [String]?, _ giver: APIKey?) throws(Fault) -> [String]? {
        guard let words else { return giver?.environments.map { $0.map(\.rawValue).sorted() } }
        let environments = Set(words.map(StoreEnvironment.init(rawValue:)))
        guard !words.isEmpty, environments.count == words.count, environments.isSubset(of: Set(StoreEnvironment.known))
        else { throw Fault("environments", "Some of production, sandbox, xcode, local_testing, each once.") }
        guard giver?.environments.map(environments.isSubset(of:)) ?? true else {
            throw Fault(moreThanOwn: "environments")
        }
        return words.sorted()
    }
}
