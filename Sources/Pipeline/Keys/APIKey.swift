package import PurchaseModel
package import Storage

/// What a key may do. Stable words of the API; each route asks for one.
package enum Scope: String, Hashable, Sendable, CaseIterable {
    /// Send proofs of purchase, and ask what became of them.
    case submit
    /// Read what one customer has.
    case customer
    /// Read everything of the app.
    case read
    /// Place and change orders, acknowledge deliveries, change balances and owners.
    case write
    /// Say where events are sent to.
    case webhooks
    /// Sign offers and requests for StoreKit.
    case sign
    /// Make and end keys.
    case keys
    /// Ask as Apple's verifyReceipt is asked.
    case verifyReceipt = "verify_receipt"
    /// Ask as cordova-plugin-purchase asks its validator.
    case validator
}

/// Who may see a key.
package enum KeyKind: String, Hashable, Sendable, CaseIterable {
    /// It stands in the app, so everybody has it.
    case publishable
    /// It stays on the shop's servers.
    case secret

    /// All that a key of this kind may ever do.
    package var scopes: Set<Scope> {
        switch self {
        case .publishable: [.submit, .customer, .validator]
        case .secret: Set(Scope.allCases)
        }
    }

    /// What one of this kind may do of which nobody has said more than its stores; `nil` is all of them. What is signed for
    /// StoreKit counts in every store, so that is not for one that is kept from production.
    package func scopes(in environments: Set<StoreEnvironment>?) -> Set<Scope> {
        environments.map { $0.contains(.production) } ?? true ? scopes : scopes.subtracting([.sign])
    }
}

/// A key, without its secret: for which app, and what it opens there.
package struct APIKey: Hashable, Sendable {
    package let holder: KeyRing.Holder
    package let kind: KeyKind
    package let scopes: Set<Scope>
    /// The stores whose proofs it may bring; `nil` for all of its app.
    package let environments: Set<StoreEnvironment>?
    /// `nil` for one that the configuration gives.
    package let id: APIKeyID?
    package let expiresAt: Timestamp?

    /// A key of the configuration.
    package init(
        _ holder: KeyRing.Holder,
        kind: KeyKind = .secret,
        scopes: Set<Scope>? = nil,
        environments: Set<StoreEnvironment>? = nil
    ) {
        self.holder = holder
        self.kind = kind
        self.scopes = scopes.map(kind.scopes.intersection) ?? kind.scopes
        self.environments = environments
        id = nil
        expiresAt = nil
    }

    /// A key that somebody made; words that this version does not know open nothing.
    package init(_ row: APIKeyRow) {
        holder = KeyRing.Holder(name: row.name, app: row.app)
        kind = KeyKind(rawValue: row.kind) ?? .publishable
        scopes = kind.scopes.intersection(row.scopes.compactMap(Scope.init(rawValue:)))
        environments = row.environments.map { Set($0.map(StoreEnvironment.init(rawValue:))) }
        id = row.id
        expiresAt = row.expiresAt
    }

    /// Whether it opens a route. Who may read everything may read what one customer has.
    package func opens(_ scope: Scope) -> Bool {
        scopes.contains(scope) || scope == .customer && scopes.contains(.read)
    }
}
