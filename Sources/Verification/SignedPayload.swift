import AppleFormats
import Encoding
import PurchaseModel

/// The payload of a JWS, decoded by what its keys say it is.
enum SignedPayload {
    case transaction(TransactionPayload)
    case renewalInfo(RenewalInfoPayload)
    case appTransaction(AppTransactionPayload)
    case notification(NotificationPayload)

    /// Decodes what is not necessarily proved: the caller knows.
    init(_ token: CompactJWS) throws(Refusal) {
        do throws(FormatFault) {
            let document = try JSONDocument.ofApple(try token.payloadBytes())
            switch PayloadKind(of: document) {
            case .transaction: self = .transaction(try TransactionPayload(document))
            case .renewalInfo: self = .renewalInfo(try RenewalInfoPayload(document))
            case .appTransaction: self = .appTransaction(try AppTransactionPayload(document))
            case .notification: self = .notification(try NotificationPayload(document))
            case .realtimeRequest, .unknown: throw .missing(field: "transactionId")
            }
        } catch {
            throw Refusal(.jwsPayload, error.sentence)
        }
    }

    var format: ProofFormat {
        switch self {
        case .transaction: .jwsTransaction
        case .renewalInfo: .jwsRenewalInfo
        case .appTransaction: .jwsAppTransaction
        case .notification: .jwsNotification
        }
    }

    /// The signed facts inside, each a JWS of its own, with the kind that belongs in its place.
    var inner: [InnerFact] {
        guard case .notification(let notification) = self else { return [] }
        let places: [(text: String?, format: ProofFormat)] = [
            (notification.data?.signedTransactionInfo, .jwsTransaction),
            (notification.data?.signedRenewalInfo, .jwsRenewalInfo),
            (notification.appData?.signedAppTransactionInfo, .jwsAppTransaction),
        ]
        return places.compactMap { place in place.text.map { InnerFact(text: $0, format: place.format) } }
    }

    func claims() throws(Refusal) -> Claims {
        switch self {
        case .transaction(let payload): try TransactionTranslation.claims(of: payload)
        case .renewalInfo(let payload): try RenewalTranslation.claims(of: payload)
        case .appTransaction(let payload): try AppTransactionTranslation.claims(of: payload)
        case .notification(let payload): try NotificationTranslation.claims(of: payload)
        }
    }
}

/// What is left of a payload once it has been translated: Apple's own fields are not carried any further.
struct SignedFacts {
    let format: ProofFormat
    let claims: Claims
    let inner: [InnerFact]

    init(_ token: CompactJWS) throws(Refusal) {
        let payload = try SignedPayload(token)
        format = payload.format
        claims = try payload.claims()
        inner = payload.inner
    }
}

/// A JWS inside another, and what it must be where it stands.
struct InnerFact {
    let text: String
    let format: ProofFormat
}
