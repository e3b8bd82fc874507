// Keys hash without the app and the side of the wall: hardly two of them agree in all else, and a decision looks up many.

/// What makes a transaction the same one: the app, the side of the wall, Apple's number.
package struct TransactionKey: Hashable, Sendable {
    package let app: AppID
    package let realm: Realm
    package let id: TransactionID

    package init(app: AppID, realm: Realm, id: TransactionID) {
        self.app = app
        self.realm = realm
        self.id = id
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(id.number) }
}

/// All that one purchase leads to, renewals and restores: its first transaction. One customer owns a chain.
package struct ChainKey: Hashable, Sendable {
    package let app: AppID
    package let realm: Realm
    package let original: TransactionID

    package init(app: AppID, realm: Realm, original: TransactionID) {
        self.app = app
        self.realm = realm
        self.original = original
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(original.number) }
}

extension ChainKey {
    /// Some order, the same everywhere.
    func precedes(_ other: ChainKey) -> Bool {
        if app != other.app { return app < other.app }
        if original != other.original { return original < other.original }
        if realm.environment != other.realm.environment {
            return realm.environment.rawValue.utf8.lexicographicallyPrecedes(other.realm.environment.rawValue.utf8)
        }
        return !realm.isTestSigned && other.realm.isTestSigned
    }
}

extension RecordedTransaction {
    /// A transaction that names no first one is its own.
    package var chain: ChainKey { ChainKey(app: app, realm: realm, original: transaction.originalID ?? id) }
}

/// Whose events are numbered together, without a gap: a customer's on one side of the wall, and those of nobody.
package struct StreamKey: Hashable, Sendable {
    package let app: AppID
    package let realm: Realm
    package let customer: CustomerID?

    package init(app: AppID, realm: Realm, customer: CustomerID?) {
        self.app = app
        self.realm = realm
        self.customer = customer
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(customer) }
}

/// What a customer has of one currency, on one side of the wall.
package struct WalletKey: Hashable, Sendable {
    package let app: AppID
    package let realm: Realm
    package let customer: CustomerID
    package let currency: CurrencyID

    package init(app: AppID, realm: Realm, customer: CustomerID, currency: CurrencyID) {
        self.app = app
        self.realm = realm
        self.customer = customer
        self.currency = currency
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(customer)
        hasher.combine(currency)
    }
}

/// An account token that one of an app's customers is known to have.
package struct TokenKey: Hashable, Sendable {
    package let app: AppID
    package let token: AccountToken

    package init(app: AppID, token: AccountToken) {
        self.app = app
        self.token = token
    }

    /// Two apps hardly ever have the same token.
    package func hash(into hasher: inout Hasher) { hasher.combine(token) }
}

/// A customer's wish for a product: where an order and a transaction meet that name no token.
package struct WishKey: Hashable, Sendable {
    package let app: AppID
    package let customer: CustomerID
    package let product: ProductID

    package init(app: AppID, customer: CustomerID, product: ProductID) {
        self.app = app
        self.customer = customer
        self.product = product
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(customer)
        hasher.combine(product)
    }
}
