import AppleFormats
import Encoding
import Testing

@Suite("An iOS 6 receipt")
struct PlistReceiptTests {
    static let purchase: [OldPlist.Pair] = [
        ("bid", "com.example.app"), ("bvrs", "1.2"), ("product-id", "com.example.coins"), ("item-id", "521129812"),
        ("quantity", "2"), ("transaction-id", "1000000046178817"), ("original-transaction-id", "1000000046178816"),
        ("purchase-date", "2012-04-30 15:05:55 Etc/GMT"), ("purchase-date-ms", "1335798355868"),
        ("original-purchase-date", "2012-04-30 15:05:55 Etc/GMT"), ("unique-identifier", ""),
        ("is-trial-period", "false"),
    ].map { OldPlist.Pair(key: $0.0, value: $0.1) }

    static let info: [UInt8] = OldPlist.encode(purchase)

    static func receipt(
        version: UInt8 = 2,
        signatureSize: Int = 128,
        certificate: [UInt8] = [1, 2, 3],
        info: [UInt8] = info
    ) -> [UInt8] {
        PlistReceipt.encode(
            version: version,
            signature: [UInt8](repeating: 0xAB, count: signatureSize),
            certificate: certificate,
            info: info,
            unsigned: [
                OldPlist.Pair(key: "environment", value: "Sandbox"), OldPlist.Pair(key: "pod", value: "100"),
                OldPlist.Pair(key: "signing-status", value: "0"),
            ]
        )
    }

    @Test("opens in each of its versions", arguments: [(2, 128), (3, 256), (4, 256)] as [(UInt8, Int)])
    func versions(version: UInt8, size: Int) throws {
        let receipt = try PlistReceipt(Self.receipt(version: version, signatureSize: size))
        #expect(receipt.version == version)
        #expect(receipt.signature == [UInt8](repeating: 0xAB, count: size))
        #expect(receipt.certificate == [1, 2, 3])
        #expect(receipt.signedBytes == [version] + Self.info)
        #expect(receipt.unsigned.environment == "Sandbox")
        #expect(receipt.unsigned.pod == "100")
        #expect(receipt.unsigned.signingStatus == "0")
    }

    @Test("gives the purchase")
    func fields() throws {
        let purchase = try PlistReceipt(Self.receipt()).purchase
        #expect(purchase.pairs == Self.purchase)
        #expect(purchase.bundleID == "com.example.app")
        #expect(purchase.bundleVersion == "1.2")
        #expect(purchase.productID == "com.example.coins")
        #expect(purchase.itemID == "521129812")
        #expect(purchase.quantity == 2)
        #expect(purchase.transactionID == "1000000046178817")
        #expect(purchase.originalTransactionID == "1000000046178816")
        #expect(purchase.purchaseDate == 1_335_798_355_868)
        #expect(purchase.originalPurchaseDate == 1_335_798_355_000)
        #expect(purchase.expiresDate == nil)
        #expect(purchase.uniqueIdentifier == nil)
        #expect(purchase.isTrialPeriod == false)
        #expect(purchase.isInIntroOfferPeriod == nil)
    }

    static let dates: [(pairs: [String: String], milliseconds: Int64?)] = [
        (["expires-date": "1448346881000"], 1_448_346_881_000),
        (["expires-date": "2015-11-24 06:34:41 Etc/GMT"], 1_448_346_881_000),
        (["expires-date-formatted": "2015-11-24 06:34:41 Etc/GMT"], 1_448_346_881_000),
        (["expires-date": "", "expires-date-formatted": "2015-11-24 06:34:41 Etc/GMT"], 1_448_346_881_000),
        (["expires-date": "99999999999999999999"], nil),
        (["expires-date-formatted-pst": "2015-11-23 22:34:41 America/Los_Angeles"], nil),
    ]

    @Test("gives the moment of expiry in each of its forms", arguments: dates)
    func expiry(pairs: [String: String], milliseconds: Int64?) throws {
        let info = OldPlist.encode(pairs.map { OldPlist.Pair(key: $0.key, value: $0.value) })
        #expect(try PlistReceipt(Self.receipt(info: info)).purchase.expiresDate == milliseconds)
    }

    static let bad: [(what: String, bytes: [UInt8], fault: FormatFault)] = [
        ("version 1", receipt(version: 1), .unknownVersion(1)),
        ("version 5", receipt(version: 5, signatureSize: 256), .unknownVersion(5)),
        ("a short signature", receipt(signatureSize: 127), .invalidValue(field: "signature")),
        ("a long signature", receipt(signatureSize: 129), .invalidValue(field: "signature")),
        ("a short signature of version 3", receipt(version: 3), .invalidValue(field: "signature")),
        ("no certificate", receipt(certificate: []), .invalidValue(field: "signature")),
        ("a purchase that is no plist", receipt(info: [1, 2]), .invalidValue(field: "purchase-info")),
        ("no signature", Array(#"{"purchase-info"="ewp9";}"#.utf8), .missing(field: "signature")),
        ("no purchase", Array(#"{"signature"="Ag==";}"#.utf8), .missing(field: "purchase-info")),
        (
            "an empty signature", Array(#"{"signature"="";"purchase-info"="e30=";}"#.utf8),
            .invalidValue(field: "signature")
        ),
        (
            "a signature in no base64", Array(#"{"signature"="A$==";"purchase-info"="e30=";}"#.utf8),
            .invalidValue(field: "signature")
        ),
        (
            "a purchase in no base64", Array(#"{"signature"="Ag==";"purchase-info"="e30!";}"#.utf8),
            .invalidValue(field: "purchase-info")
        ),
    ]

    @Test("is refused", arguments: bad)
    func refused(what: String, bytes: [UInt8], fault: FormatFault) {
        #expect(throws: fault) { try PlistReceipt(bytes) }
    }

    @Test("is refused when bytes follow the certificate, or the length lies")
    func length() {
        for (length, count) in [(3, 4), (4, 3), (0, 1), (Int(UInt32.max), 3)] {
            let octets = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
            let blob = [2] + [UInt8](repeating: 0, count: 128) + octets + [UInt8](repeating: 9, count: count)
            let text = String(decoding: Base64.encode(blob, .standard, isPadded: true), as: UTF8.self)
            let bytes = OldPlist.encode([
                OldPlist.Pair(key: "signature", value: text), OldPlist.Pair(key: "purchase-info", value: "e30="),
            ])
            #expect(throws: FormatFault.invalidValue(field: "signature")) { try PlistReceipt(bytes) }
        }
    }

    @Test("cut or changed at any byte, fails or opens without a trap")
    func broken() {
        let bytes = Self.receipt()
        for offset in bytes.indices {
            #expect(throws: FormatFault.self) { try PlistReceipt(Array(bytes.prefix(offset))) }
            for flip: UInt8 in [0x01, 0x10, 0x80] {
                var changed = bytes
                changed[offset] ^= flip
                _ = try? PlistReceipt(changed)
            }
        }
    }
}
