import Crypto
import HTTP
import PurchaseModel
import Storage

/// A form that does something once, however often it is sent: its name is kept in the commit that it led to.
struct SentOnce: Sendable {
    static let field: StaticString = "once"

    let name: IdempotencyName
    private let fingerprint: [UInt8]

    /// `nil` when the form carries no name that we gave.
    ///
    /// - Parameter visit: the form as it was sent.
    init?(_ visit: Visit) {
        guard let token = Token(visit.fields[Self.field.description].utf8) else { return nil }
        // An account's name may be as long as a holder's; its digest never is.
        let admin = Digest.sha256(Array(visit.account.name.text.utf8)).prefix(16)
        let digits = admin.map { String($0) }.joined(separator: ".")
        name = IdempotencyName(holder: "dashboard \(digits)", key: token.text)
        fingerprint = Digest.sha256(Array(visit.request.path.utf8) + [0] + visit.request.body)
    }

    /// Whether it was sent before: `nil` when it was not, else whether it said the same.
    func wasSent(_ reader: any StoreReader) throws(StoreFailure) -> Bool? {
        try reader.keptAnswer(name).map { $0.fingerprint == fingerprint }
    }

    func keep(at now: Timestamp, in write: any StoreTransaction) throws(StoreFailure) {
        try write.keepAnswer(
            KeptAnswer(
                name: name,
                fingerprint: fingerprint,
                status: 303,
                contentType: "text/html",
                body: [],
                keptAt: now
            )
        )
    }
}
