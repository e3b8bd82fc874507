import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport

/// Facts to sign, and proofs of them that are right in every way.
enum Sample {
    static let moment = TestAuthority.moment
    static let product = ProductID(checked: "com.example.simulated.month")
    static let sandboxID: Int64 = 2_000_000_950_112_345
    static let productionID: Int64 = 170_000_029_449_420
    static let uuid = "9ad56bd2-0bc6-42e0-af24-fd996d87a1e6"

    static func id(_ number: Int64 = sandboxID) -> TransactionID {
        guard let id = TransactionID(number: number) else { preconditionFailure("no negative number") }
        return id
    }

    static func transaction(_ number: Int64 = sandboxID, product: ProductID = Sample.product) -> Transaction {
        Transaction(
            id: id(number),
            originalID: id(number),
            product: product,
            kind: .autoRenewable,
            purchasedAt: Timestamp(milliseconds: moment.milliseconds - 5_000),
            expiresAt: Timestamp(milliseconds: moment.milliseconds + 2_592_000_000),
            webOrderLineItem: "2000000101112131",
            signedAt: moment
        )
    }

    static var renewal: Renewal { Renewal(originalID: id(), product: product, signedAt: moment) }

    static var download: AppDownload { AppDownload(bundleID: TestAuthority.bundleID, signedAt: moment) }

    static func notice(transaction: Transaction? = nil, renewal: Renewal? = nil) -> Notice {
        var notice = Notice(uuid: uuid, type: "DID_RENEW", signedAt: moment)
        notice.transaction = transaction
        notice.renewal = renewal
        return notice
    }

    static var fullNotice: Notice { notice(transaction: transaction(), renewal: renewal) }

    /// A transaction's payload, to be changed before it is signed.
    static func payload(_ environment: StoreEnvironment = .sandbox) -> Payload {
        .transaction(transaction(), of: TestAuthority.app(environment))
    }

    static func receipt(
        _ purchases: [Transaction] = [transaction()],
        _ environment: StoreEnvironment = .sandbox
    ) -> SimulatedReceipt {
        SimulatedReceipt(app: TestAuthority.app(environment), createdAt: moment, purchases: purchases)
    }

    static func base64(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
    }
}

/// Every kind of proof that the App Store signs.
enum ProofKind: String, CaseIterable, Sendable {
    case transaction, renewalInfo, appTransaction, notification
    case receiptSHA1, receiptSHA256
    case oldReceiptTwo, oldReceiptThree, oldReceiptFour

    /// A right proof of this kind, by the simulator.
    func proof(_ environment: StoreEnvironment = .sandbox) throws -> [UInt8] {
        let signer = TestAuthority.signer(environment)
        let number = environment == .production ? Sample.productionID : Sample.sandboxID
        let transaction = Sample.transaction(number)
        switch self {
        case .transaction: return Array(try signer.transaction(transaction).utf8)
        case .renewalInfo: return Array(try signer.renewal(Sample.renewal).utf8)
        case .appTransaction: return Array(try signer.appTransaction(Sample.download).utf8)
        case .notification: return Array(try signer.notification(Sample.fullNotice).utf8)
        case .receiptSHA1: return try signer.receipt([transaction], createdAt: Sample.moment, digest: .sha1)
        case .receiptSHA256: return try signer.receipt([transaction], createdAt: Sample.moment)
        case .oldReceiptTwo: return try signer.oldReceipt(transaction, version: .two)
        case .oldReceiptThree: return try signer.oldReceipt(transaction, version: .three)
        case .oldReceiptFour: return try signer.oldReceipt(transaction, version: .four)
        }
    }

    /// A right proof that is made once.
    func sharedProof() throws -> [UInt8] {
        guard let proof = ProofKind.shared[self] else { preconditionFailure("every kind is made") }
        return try proof.get()
    }

    private static let shared: [ProofKind: Result<[UInt8], any Error>] = Dictionary(
        uniqueKeysWithValues: allCases.map { kind in (kind, Result { try kind.proof() }) }
    )

    var namesBundle: Bool { self != .renewalInfo }
    var holdsPurchases: Bool { self != .renewalInfo && self != .appTransaction }
    var isOldReceipt: Bool { [.oldReceiptTwo, .oldReceiptThree, .oldReceiptFour].contains(self) }
    var isReceipt: Bool { self == .receiptSHA1 || self == .receiptSHA256 }
    var isJWS: Bool { !isReceipt && !isOldReceipt }
}
