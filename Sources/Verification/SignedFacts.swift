import AppleFormats
import Encoding
import PurchaseModel

/// What the payload of a JWS says, in our own words. It is not necessarily proved: the caller knows.
///
/// Apple's own fields are translated as soon as they are read, and not carried any further.
struct SignedFacts {
    let format: ProofFormat
    let claims: Claims
    /// The signed facts inside, each a JWS of its own, with the kind that belongs in its place.
    let inner: [InnerFact]

    init(_ token: CompactJWS) throws(Refusal) {
        let document = try SignedFacts.document(of: token)
        format = try SignedFacts.format(of: document)
        (claims, inner) = try SignedFacts.translated(document, format)
    }

    /// For a payload that need not be in order: what it is, and what it says as far as that can be told.
    static func readable(in token: CompactJWS) -> (ProofFormat, Claims)? {
        guard let document = try? document(of: token), let format = try? format(of: document) else { return nil }
        return (format, (try? translated(document, format).claims) ?? Claims())
    }

    private static func document(of token: CompactJWS) throws(Refusal) -> JSONDocument {
        try decoding { () throws(FormatFault) in try JSONDocument.ofApple(try token.payloadBytes()) }
    }

    /// The kind of payload that its keys say it is.
    private static func format(of document: JSONDocument) throws(Refusal) -> ProofFormat {
        switch PayloadKind(of: document) {
        case .transaction: .jwsTransaction
        case .renewalInfo: .jwsRenewalInfo
        case .appTransaction: .jwsAppTransaction
        case .notification: .jwsNotification
        case .realtimeRequest, .unknown:
            throw Refusal(.jwsPayload, FormatFault.missing(field: "transactionId").sentence)
        }
    }

    private static func translated(
        _ document: JSONDocument,
        _ format: ProofFormat
    ) throws(Refusal) -> (claims: Claims, inner: [InnerFact]) {
        switch format {
        case .jwsRenewalInfo:
            let payload = try decoding { () throws(FormatFault) in try RenewalInfoPayload(document) }
            return (try RenewalTranslation.claims(of: payload), [])
        case .jwsAppTransaction:
            let payload = try decoding { () throws(FormatFault) in try AppTransactionPayload(document) }
            return (try AppTransactionTranslation.claims(of: payload), [])
        case .jwsNotification:
            let payload = try decoding { () throws(FormatFault) in try NotificationPayload(document) }
            return (try NotificationTranslation.claims(of: payload), InnerFact.all(in: payload))
        default:
            let payload = try decoding { () throws(FormatFault) in try TransactionPayload(document) }
            return (try TransactionTranslation.claims(of: payload), [])
        }
    }

    @inline(__always)
    private static func decoding<Value>(_ body: () throws(FormatFault) -> Value) throws(Refusal) -> Value {
        do throws(FormatFault) {
            return try body()
        } catch {
            throw Refusal(.jwsPayload, error.sentence)
        }
    }
}

/// A JWS inside another, and what it must be where it stands.
struct InnerFact {
    let text: String
    let format: ProofFormat

    static func all(in notification: NotificationPayload) -> [InnerFact] {
        // An object that is new to us may have what the first one has; each is proved by itself.
        let later = notification.laterSubject
        func text(_ name: String) -> String? { later?[name]?.string }
        let places: [(text: String?, format: ProofFormat)] = [
            (notification.data?.signedTransactionInfo ?? text("signedTransactionInfo"), .jwsTransaction),
            (notification.data?.signedRenewalInfo ?? text("signedRenewalInfo"), .jwsRenewalInfo),
            (notification.appData?.signedAppTransactionInfo, .jwsAppTransaction),
        ]
        return places.compactMap { place in place.text.map { InnerFact(text: $0, format: place.format) } }
    }
}
