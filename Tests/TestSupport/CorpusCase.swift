import FoundationEssentials

/// One row of the corpus's manifest: a recorded file and what it must give.
package struct CorpusCase: Decodable, Sendable, CustomStringConvertible {
    package let id: String
    /// Such as `pkcs7_app_receipt`, `ios6_transaction_receipt`, `jws_transaction`, `jws_forged`.
    package let kind: String
    package let path: String
    package let environment: String?
    package let bundleID: String?
    /// RFC 3339; the moment at which the chain is judged.
    package let creationDate: String?
    package let creationMilliseconds: Double?
    /// `sha1` or `sha256`; receipts only.
    package let digest: String?
    package let signerSerial: String?
    package let notificationType: String?
    /// Where the independently decoded content lies, if anywhere.
    package let facts: String?
    package let expect: Expectation

    package var description: String { id }

    /// The file's bytes as they are kept: base64 text for receipts, the compact text for JWS.
    package func bytes() throws -> [UInt8] { try Corpus.bytes(path) }

    private enum CodingKeys: String, CodingKey {
        case id, kind, path, environment, digest, facts, expect
        case bundleID = "bundle_id"
        case creationDate = "creation_date"
        case creationMilliseconds = "creation_date_ms"
        case signerSerial = "signer_cert_serial"
        case notificationType = "notification_type"
    }

    /// What the file must give; a field is `nil` where the manifest does not speak of it.
    package struct Expectation: Decodable, Sendable {
        package let isGenuineReceiptAtCreation: Bool?
        package let isGenuineOldReceiptAtPurchase: Bool?
        package let isGenuineJWSAtSigning: Bool?
        package let isCMSConsistent: Bool?
        package let inAppCount: Int?
        package var transactionIDs: [String]? { writtenTransactionIDs?.map(\.text) }
        package let originalTransactionIDs: [String]?
        package let productIDs: [String]?
        package let purchaseMilliseconds: String?
        package let formatVersion: Int?
        private let writtenTransactionIDs: [TextOrNumber]?

        private enum CodingKeys: String, CodingKey {
            case isGenuineReceiptAtCreation = "signature_valid_under_apple_roots_at_creation_date"
            case isGenuineOldReceiptAtPurchase = "signature_valid_at_purchase_date"
            case isGenuineJWSAtSigning = "signature_valid_under_apple_root_g3_at_signed_date"
            case isCMSConsistent = "cms_signature_itself_consistent"
            case inAppCount = "in_app_count"
            case writtenTransactionIDs = "transaction_ids"
            case originalTransactionIDs = "original_transaction_ids"
            case productIDs = "product_ids"
            case purchaseMilliseconds = "purchase_date_ms"
            case formatVersion = "format_version"
        }
    }
}

/// One recorded answer has its ids as numbers.
private struct TextOrNumber: Decodable, Sendable {
    let text: String

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        text = if let number = try? value.decode(Int64.self) { String(number) } else { try value.decode(String.self) }
    }
}
