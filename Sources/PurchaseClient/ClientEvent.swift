public import Foundation

/// What the client tells the app of. Nothing has to be done about any of it for a purchase to arrive; `needsShop` says what
/// somebody should look at.
public enum ClientEvent: Hashable, Sendable {
    /// The server has recorded a purchase. What was bought can be shown.
    case confirmed(OutboxEntry)
    /// The server does not take a purchase: see ``Refusal``.
    case refused(OutboxEntry)
    /// The store was told that a purchase is finished.
    case finished(purchase: String)
    /// A request had no useful answer and is made again later.
    case trouble(Trouble, purchase: String)
    /// A purchase is not on disk, so it is not sent. The store goes on to bring it.
    case notKept(OutboxFault, purchase: String)
    /// What has become of a purchase is not on disk; after the next start the server is asked once more.
    case notWritten(OutboxFault, purchase: String)
    /// The store has brought a purchase, and the app did not say whose it is. It is asked again later. Where it claims by
    /// account tokens alone, one without a token stays unclaimed for ever: an offer code redeemed in the App Store, for one.
    case unclaimed(purchase: String, accountToken: UUID?)
    /// Lines of the journal could not be read. What they were about, the store brings again.
    case damaged(lines: Int)

    /// Whether waiting alone will not do: a wrong key, a refused purchase, a full disk.
    public var needsShop: Bool {
        switch self {
        case .confirmed, .finished, .unclaimed: false
        case .refused, .notKept, .notWritten, .damaged: true
        case .trouble(let trouble, _): !trouble.isTemporary
        }
    }
}
