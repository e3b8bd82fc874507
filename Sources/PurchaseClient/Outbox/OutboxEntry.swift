public import Foundation

/// A purchase that the server is told of, from when it came until it is finished.
public struct OutboxEntry: Hashable, Identifiable, Sendable {
    /// The store's number of the transaction.
    public let id: String
    /// Whose it is, in the shop's words; as it was said first.
    public let customer: String
    /// The order that it pays, if the app has named one.
    public let order: String?
    /// When it was first on disk, by the device's clock.
    public let queuedAt: Date
    /// How far it has come.
    public package(set) var state: State

    /// What proves it, as the store has signed it.
    package let proof: String
    /// What is sent, byte for byte the same each time.
    package let body: [UInt8]

    package init(_ parcel: Parcel, state: State) {
        id = parcel.id
        customer = parcel.content.customer
        order = parcel.content.order
        queuedAt = parcel.at
        self.state = state
        proof = parcel.content.proof
        body = Array(parcel.body.utf8)
    }

    /// How far a purchase has come.
    public enum State: Hashable, Sendable {
        /// On disk, and to be sent.
        case queued
        /// Being sent just now.
        case sending
        /// The server has kept it and cannot say yet what it is worth; it is asked again.
        case pending(submission: String)
        /// The server has it on disk. The store is told that it is finished.
        case confirmed(Confirmation)
        /// The server has said no. The store is not told: see ``Refusal``.
        case refused(Refusal)

        /// Whether the server has had its last word.
        public var isDecided: Bool {
            switch self {
            case .queued, .sending, .pending: false
            case .confirmed, .refused: true
            }
        }
    }
}

/// That the server has recorded a purchase.
public struct Confirmation: Hashable, Sendable {
    /// What the server has decided about this transaction; `nil` where its answer does not say so.
    public let decision: Decision?
    /// When the answer came, by the device's clock.
    public let at: Date

    package init(decision: Decision?, at: Date) {
        self.decision = decision
        self.at = at
    }
}

/// What a recorded transaction counts for. The server may know more words than these.
public struct Decision: RawRepresentable, Hashable, Sendable {
    /// The server's word.
    public let rawValue: String

    /// Any word of the server's.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It counts for this customer.
    public static let recorded = Decision(rawValue: "recorded")
    /// Apple has taken it back.
    public static let revoked = Decision(rawValue: "revoked")
    /// Apple has taken a part of it back: the rest counts.
    public static let partlyRevoked = Decision(rawValue: "partly_revoked")
    /// An upgrade took its place.
    public static let upgraded = Decision(rawValue: "upgraded")
    /// Another customer presented it first.
    public static let ownedByAnotherCustomer = Decision(rawValue: "owned_by_another_customer")
}

/// Why the server does not take a purchase.
///
/// A refused purchase is not finished: the store goes on to bring it. Many refusals are mistakes of the shop's that it can
/// mend, such as a product that is missing in its catalogue, and what is finished never comes back.
public struct Refusal: Hashable, Sendable {
    /// The server's verdict, such as `not_yours` or `forged`.
    public let verdict: String
    /// The server's reason, as far as a sender may know it.
    public let reason: String
    /// When the answer came, by the device's clock.
    public let at: Date

    package init(verdict: String, reason: String, at: Date) {
        self.verdict = verdict
        self.reason = reason
        self.at = at
    }

    /// Whether it is the proof itself that the server does not believe, and not how the shop is set up. It may be mistaken:
    /// a genuine purchase is forged to a server that lacks one of Apple's roots, and malformed to one that is too old.
    public var doubtsProof: Bool { verdict == "forged" || verdict == "malformed" }

    /// The word for what is signed well and in which the server finds no purchase, or none yet.
    package static let nothingToRecord = "nothing_to_record"
}
