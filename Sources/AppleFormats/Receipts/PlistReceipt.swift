import Encoding

/// An iOS 6 transaction receipt: a text plist around a signature and the purchase that it covers. Opened, not trusted.
///
/// Source: the layout of Apple's guidance of 2012 (TP40012484), checked on 13 genuine receipts of 2011 to 2025.
package struct PlistReceipt: Hashable, Sendable {
    /// The first octet of the signature's blob: 2, 3 or 4. The digest is SHA-1 up to 3, SHA-256 in 4.
    package let version: UInt8
    /// RSA PKCS#1 v1.5 over ``signedBytes``: 128 octets in version 2, 256 later.
    package let signature: [UInt8]
    /// DER of the signer's certificate; its issuer's is not in the receipt.
    package let certificate: [UInt8]
    /// What the signature covers: the version octet and the decoded purchase-info.
    package let signedBytes: [UInt8]
    /// What was bought, out of the signed bytes.
    package let purchase: PlistPurchase
    /// What stands beside the signature: anybody may have changed it.
    package let unsigned: Unsigned

    /// Claims outside of the signature. A receipt whose environment was taken out verifies as well.
    package struct Unsigned: Hashable, Sendable {
        /// `Sandbox`, or nil.
        package let environment: String?
        /// The server's number; 100 in sandbox.
        package let pod: String?
        /// `0` in every receipt that was seen.
        package let signingStatus: String?
    }

    /// Opens the outer text, the signature's blob and the purchase in it.
    package init(_ bytes: [UInt8]) throws(FormatFault) {
        let outer = try OldPlist(bytes.span)
        guard let signatureText = outer["signature"] else { throw .missing(field: "signature") }
        guard let infoText = outer["purchase-info"] else { throw .missing(field: "purchase-info") }
        let info = try Self.decode(infoText, "purchase-info")
        let blob = try Self.decode(signatureText, "signature")
        (version, signature, certificate) = try Self.open(blob)
        signedBytes = [version] + info
        do throws(FormatFault) {
            purchase = PlistPurchase(try OldPlist(info.span))
        } catch {
            throw .invalidValue(field: "purchase-info")
        }
        unsigned = Unsigned(
            environment: outer["environment"],
            pod: outer["pod"],
            signingStatus: outer["signing-status"]
        )
    }

    private static func decode(_ text: String, _ field: String) throws(FormatFault) -> [UInt8] {
        do throws(Base64Fault) {
            return try Base64.decode(Array(text.utf8), .standard, padding: .optional)
        } catch {
            throw .invalidValue(field: field)
        }
    }

    /// Version, signature, four octets of length, certificate, and nothing more.
    private static func open(
        _ blob: [UInt8]
    ) throws(FormatFault) -> (version: UInt8, signature: [UInt8], certificate: [UInt8]) {
        guard let version = blob.first else { throw .invalidValue(field: "signature") }
        guard let signatureSize = signatureSize(ofVersion: version) else { throw .unknownVersion(Int(version)) }
        let lengthStart = 1 + signatureSize
        let certificateStart = lengthStart + 4
        guard blob.count > certificateStart else { throw .invalidValue(field: "signature") }
        let length = blob[lengthStart..<certificateStart].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length == UInt64(blob.count - certificateStart) else { throw .invalidValue(field: "signature") }
        return (version, Array(blob[1..<lengthStart]), Array(blob[certificateStart...]))
    }

    private static func signatureSize(ofVersion version: UInt8) -> Int? {
        switch version {
        case 2: 128
        case 3, 4: 256
        default: nil
        }
    }

    /// Puts a receipt together as Apple does; the simulator has a way of its own. `signature` is over the version and `info`.
    package static func encode(
        version: UInt8,
        signature: [UInt8],
        certificate: [UInt8],
        info: [UInt8],
        unsigned: [OldPlist.Pair]
    ) -> [UInt8] {
        let length = UInt32(truncatingIfNeeded: certificate.count)
        let lengthOctets = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
        let blob = [version] + signature + lengthOctets + certificate
        let signed = [
            OldPlist.Pair(key: "signature", value: Self.encode(blob)),
            OldPlist.Pair(key: "purchase-info", value: Self.encode(info)),
        ]
        return OldPlist.encode(signed + unsigned)
    }

    private static func encode(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
    }
}
