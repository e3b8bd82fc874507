import AppleFormats
import Crypto
import Encoding
import PurchaseModel

/// Why a receipt gets no answer but a number.
struct ReceiptRefusal: Error, Equatable {
    let status: VerifyReceiptStatus

    init(_ status: VerifyReceiptStatus) {
        self.status = status
    }
}

/// What was sent as `receipt-data`, once it is shown that the store itself signed it.
///
/// The store knows its own signers: a receipt is right when one of them, and no other certificate however it was issued,
/// signed exactly this content while it was valid.
enum ReceivedReceipt {
    case app(AppReceipt)
    case transaction(PlistReceipt)

    init(_ text: String, signedBy authority: SimulatorAuthority) throws(ReceiptRefusal) {
        let bytes = try ReceivedReceipt.decode(text)
        switch bytes.first {
        case 0x30: self = .app(try ReceivedReceipt.appReceipt(bytes, authority))
        case UInt8(ascii: "{"): self = .transaction(try ReceivedReceipt.transactionReceipt(bytes, authority))
        default: throw ReceiptRefusal(.malformedReceipt)
        }
    }

    /// Standard base64. Line breaks were never forgiven in an app receipt, and always in an iOS 6 one.
    private static func decode(_ text: String) throws(ReceiptRefusal) -> [UInt8] {
        let letters = Array(text.utf8)
        let packed = letters.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        do throws(Base64Fault) {
            let bytes = try Base64.decode(packed, .standard, padding: .optional)
            if packed.count == letters.count || bytes.first == UInt8(ascii: "{") { return bytes }
        } catch {
            throw ReceiptRefusal(.malformedReceipt)
        }
        throw ReceiptRefusal(.malformedReceipt)
    }

    private static func appReceipt(
        _ bytes: [UInt8],
        _ authority: SimulatorAuthority
    ) throws(ReceiptRefusal) -> AppReceipt {
        let envelope: SignedData
        do throws(FormatFault) {
            envelope = try SignedData(bytes)
        } catch {
            throw ReceiptRefusal(.malformedReceipt)
        }
        guard envelope.contentType == .data, envelope.signers.count == 1, let signer = envelope.signers.first,
            signer.signedAttributes == nil, let digest = digest(of: signer),
            case .issuerAndSerial(let issuer, let serial) = signer.identity
        else { throw ReceiptRefusal(.notAuthenticated) }
        let leaf = try own(digest == .sha1 ? .sha1Leaf : .sha256Leaf, authority)
        let (signature, content) = (signer.signature, envelope.content)
        guard leaf.fields.issuerDER.elementsEqual(issuer), leaf.fields.serial.elementsEqual(serial),
            envelope.certificates.contains(where: { $0.elementsEqual(leaf.der) }),
            leaf.publicKey.isValidRSA(signature: signature.span, message: content.span, digest: digest)
        else { throw ReceiptRefusal(.notAuthenticated) }
        let receipt: AppReceipt
        do throws(FormatFault) {
            receipt = try AppReceipt(envelope.content)
        } catch {
            throw ReceiptRefusal(.malformedReceipt)
        }
        guard let createdAt = receipt.creationDate, isValid(leaf, at: createdAt) else {
            throw ReceiptRefusal(.notAuthenticated)
        }
        return receipt
    }

    private static func digest(of signer: SignerInfo) -> Digest? {
        switch (signer.digestAlgorithm, signer.signatureAlgorithm) {
        case (.sha1, .rsaEncryption): .sha1
        case (.sha256, .rsaEncryption): .sha256
        default: nil
        }
    }

    private static func transactionReceipt(
        _ bytes: [UInt8],
        _ authority: SimulatorAuthority
    ) throws(ReceiptRefusal) -> PlistReceipt {
        let receipt: PlistReceipt
        do throws(FormatFault) {
            receipt = try PlistReceipt(bytes)
        } catch {
            throw ReceiptRefusal(.malformedReceipt)
        }
        guard let version = OldReceiptSigner.Version(rawValue: receipt.version) else {
            throw ReceiptRefusal(.notAuthenticated)
        }
        let leaf = try own(version.family.leaf, authority)
        guard receipt.certificate == leaf.der,
            leaf.publicKey.isValidRSA(
                signature: receipt.signature,
                message: receipt.signedBytes,
                digest: version.digest
            ),
            let purchasedAt = receipt.purchase.purchaseDate, isValid(leaf, at: purchasedAt)
        else { throw ReceiptRefusal(.notAuthenticated) }
        return receipt
    }

    private static func own(
        _ member: AuthorityMember,
        _ authority: SimulatorAuthority
    ) throws(ReceiptRefusal) -> Certificate {
        do throws(CryptoError) {
            return try authority.identity(member).certificate
        } catch {
            throw ReceiptRefusal(.internalError)
        }
    }

    /// Milliseconds since 1970, both ends included.
    private static func isValid(_ certificate: Certificate, at moment: Int64) -> Bool {
        certificate.fields.notBefore <= moment && moment <= certificate.fields.notAfter
    }
}
