/// How an app answers when Apple asks for consumption information: the operator's policy.
package struct ConsumptionTerms: Hashable, Sendable {
    /// Whether requests are answered by themselves.
    package var answers: Bool
    package var consent: ConsentRule
    /// How long the shop has to look at what is to be sent, and to object.
    package var delay: Duration
    /// Whether customers could try what is sold before they bought.
    package var offersSamples: Bool
    /// The same of single products.
    package var sampleProducts: Set<ProductID>
    package var preference: RefundPreference?

    package init(
        answers: Bool = false,
        consent: ConsentRule = .perCustomer,
        delay: Duration = .seconds(3_600),
        offersSamples: Bool = false,
        sampleProducts: Set<ProductID> = [],
        preference: RefundPreference? = nil
    ) {
        self.answers = answers
        self.consent = consent
        self.delay = delay
        self.offersSamples = offersSamples
        self.sampleProducts = sampleProducts
        self.preference = preference
    }
}

/// By what a customer has consented that Apple is told of her purchases. Stable words of the configuration.
package enum ConsentRule: String, Hashable, Sendable, CaseIterable {
    /// By what is recorded of her, and by nothing else.
    case perCustomer = "per_customer"
    /// By the shop's terms, unless it is recorded that she has withdrawn it.
    case byTerms = "by_terms"
}

/// Who consents: a customer of the shop, or the account of Apple's behind an app transaction, for which a parent may have
/// withdrawn consent.
package enum ConsentSubject: Hashable, Sendable {
    case customer(CustomerID)
    /// Its number, and where that is told: the sandbox, or a test signer, says nothing of an account of production.
    case appTransaction(String, Realm)

    /// By which words the consent of an account may have been withdrawn for what it bought somewhere: by those from there, and
    /// by those of production, as which earlier versions noted all of them.
    ///
    /// - Parameters:
    ///   - id: of its app transaction.
    ///   - realm: where it bought.
    /// - Returns: one or two.
    package static func accounts(_ id: String, in realm: Realm) -> Set<ConsentSubject> {
        [.appTransaction(id, realm), .appTransaction(id, Realm(environment: .production, isTestSigned: false))]
    }
}

package struct ConsentKey: Hashable, Sendable {
    package let app: AppID
    package let subject: ConsentSubject

    package init(app: AppID, subject: ConsentSubject) {
        self.app = app
        self.subject = subject
    }
}

/// What was last said about somebody's consent.
package struct Consent: Hashable, Sendable {
    package let key: ConsentKey
    package internal(set) var isGiven: Bool
    package internal(set) var since: Timestamp
    /// Counts its changes, so that of two writers who saw the same one only the first succeeds.
    package internal(set) var version: Int64

    package init(key: ConsentKey, isGiven: Bool, since: Timestamp, version: Int64 = 1) {
        self.key = key
        self.isGiven = isGiven
        self.since = since
        self.version = version
    }
}

/// Who did what, when. It is written with what was done, and never changed.
package struct AuditEntry: Hashable, Sendable {
    package let app: AppID
    package let subject: AuditSubject
    /// The version that what it is about has since.
    package let number: Int64
    package let at: Timestamp
    /// The name of a key, `assay`, or `apple`.
    package let actor: String
    /// A word of ours.
    package let act: String
    package let detail: String?

    package init(
        app: AppID,
        subject: AuditSubject,
        number: Int64,
        at: Timestamp,
        actor: String,
        act: String,
        detail: String? = nil
    ) {
        self.app = app
        self.subject = subject
        self.number = number
        self.at = at
        self.actor = actor
        self.act = act
        self.detail = detail
    }

    package static let us = "assay"
    package static let apple = "apple"
}

/// What an act is about, as a text that two different things never share.
package struct AuditSubject: Hashable, Sendable {
    package let text: String

    package init(text: String) { self.text = text }

    package init(_ key: ConsumptionKey) {
        // Neither an id nor a store's name has a space in it.
        text = "consumption \(key.id) \(key.realm.environment)\(key.realm.isTestSigned ? " test" : "")"
    }

    package init(_ subject: ConsentSubject) {
        switch subject {
        case .customer(let id): text = "consent customer \(id)"
        case .appTransaction(let id, let realm):
            let (store, test) = (realm.environment, realm.isTestSigned ? " test" : "")
            let isPlain = store == .production && !realm.isTestSigned
            text = isPlain ? "consent app_transaction \(id)" : "consent \(store)\(test) app_transaction \(id)"
        }
    }
}
