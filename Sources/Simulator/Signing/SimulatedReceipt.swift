import AppleFormats
import Crypto
package import PurchaseModel

/// An app receipt in the making: the attributes that Apple writes, documented or not.
package struct SimulatedReceipt: Hashable, Sendable {
    package var app: SimulatedApp
    package var createdAt: Timestamp
    package var purchases: [Transaction]
    package var originallyPurchasedAt: Timestamp?
    package var originalVersion: String?
    /// Of the pair of account and app; production only.
    package var downloadID: Int64 = 502_787_298_214_239_215
    /// Of the app's version; production only.
    package var versionExternalID: Int64 = 863_855_306
    /// Volume purchases end.
    package var expiresAt: Timestamp?
    /// The device's identifier for the vendor; it is hashed into attribute 5.
    package var deviceID: [UInt8] = [UInt8](repeating: 0xD5, count: 16)

    package init(app: SimulatedApp, createdAt: Timestamp, purchases: [Transaction] = []) {
        self.app = app
        self.createdAt = createdAt
        self.purchases = purchases
    }

    /// One ReceiptAttribute before it is encoded.
    package struct Attribute: Hashable, Sendable {
        package var type: Int64
        package var version: Int64
        package var value: [UInt8]

        package init(_ type: Int64, version: Int64 = 1, value: [UInt8]) {
            self.type = type
            self.version = version
            self.value = value
        }

        package init(_ type: Int64, number: Int64) {
            self.init(type, value: DERWriter.encode { $0.integer(number) })
        }

        package init(_ type: Int64, text: String) {
            self.init(type, value: DERWriter.encode { $0.utf8String(text) })
        }

        /// An IA5String; Apple writes the empty one where there is no date.
        package init(_ type: Int64, date: String) {
            self.init(type, value: DERWriter.encode { $0.ia5String(date) })
        }

        var der: [UInt8] {
            DERWriter.encode { writer in
                writer.sequence { writer in
                    writer.integer(type)
                    writer.integer(version)
                    writer.octetString(value)
                }
            }
        }
    }

    /// The content of an App Store receipt: all attributes in DER's order.
    package var content: [UInt8] { SimulatedReceipt.content(attributes, isSorted: true) }

    /// Attributes as a SET; unsorted they stand as given, which BER allows.
    package static func content(_ attributes: [Attribute], isSorted: Bool) -> [UInt8] {
        DERWriter.encode { writer in
            if isSorted {
                writer.set(of: attributes.map(\.der))
            } else {
                writer.constructed(.set) { writer in for item in attributes { writer.raw(item.der) } }
            }
        }
    }

    /// What the App Store writes.
    package var attributes: [Attribute] {
        let original = originallyPurchasedAt ?? (app.isProduction ? createdAt : SimulatedReceipt.sandboxDownload)
        let scale: Int64 = app.isProduction ? 1 : 0
        var attributes = [
            Attribute(0, text: kind),
            Attribute(1, number: app.appleID * scale),
            Attribute(2, value: bundleValue),
            Attribute(3, text: app.version),
            Attribute(4, version: 2, value: opaque),
            Attribute(5, value: deviceHash(opaque)),
            Attribute(6, value: cipher(57)),
            Attribute(7, value: cipher(71)),
            Attribute(8, date: app.isProduction ? AppleDateText.zulu(createdAt) : ""),
            // `P302`, a tool's version.
            Attribute(9, number: 1_345_531_954),
            Attribute(10, text: "4+"),
            Attribute(11, number: 14_265 * scale),
            Attribute(12, date: AppleDateText.zulu(createdAt)),
            Attribute(13, number: 170_200),
            Attribute(14, number: 229),
            Attribute(15, number: downloadID * scale),
            Attribute(16, number: versionExternalID * scale),
            Attribute(18, date: AppleDateText.zulu(original)),
            Attribute(19, text: originalVersion ?? (app.isProduction ? app.version : "1.0")),
            Attribute(20, text: ""),
            Attribute(25, number: 3),
        ]
        if let expiresAt { attributes.append(Attribute(21, date: AppleDateText.zulu(expiresAt))) }
        for purchase in purchases {
            let inner = SimulatedReceipt.attributes(of: purchase)
            attributes.append(Attribute(17, value: SimulatedReceipt.content(inner, isSorted: true)))
        }
        return attributes
    }

    /// What Xcode writes: fewer attributes, in the order of their numbers.
    package var xcodeAttributes: [Attribute] {
        let opaque: [UInt8] = Array(opaque.prefix(8))
        var attributes = [
            Attribute(0, text: "Xcode"),
            Attribute(1, number: 0),
            Attribute(2, value: bundleValue),
            Attribute(3, text: app.version),
            Attribute(4, value: opaque),
            Attribute(5, value: deviceHash(opaque)),
            Attribute(8, date: ""),
            Attribute(12, date: AppleDateText.xcode(createdAt)),
        ]
        for purchase in purchases {
            let inner = SimulatedReceipt.xcodeAttributes(of: purchase)
            attributes.append(Attribute(17, value: SimulatedReceipt.content(inner, isSorted: false)))
        }
        attributes.append(Attribute(21, date: "4001-01-01T03:00:00+0300"))
        return attributes
    }

    /// When everybody first downloaded every app in the sandbox: 2013-08-01T07:00:00Z.
    private static let sandboxDownload = Timestamp(seconds: 1_375_340_400)

    private var kind: String { app.isProduction ? "Production" : "ProductionSandbox" }
    private var bundleValue: [UInt8] { DERWriter.encode { $0.utf8String(app.bundleID.text) } }
    private var opaque: [UInt8] { cipher(16) }

    private func deviceHash(_ opaque: [UInt8]) -> [UInt8] {
        Digest.sha1(deviceID + opaque + bundleValue)
    }

    /// Bytes that look enciphered and follow from the receipt.
    private func cipher(_ count: Int) -> [UInt8] {
        let seed = Array("\(app.bundleID.text) \(createdAt.milliseconds) \(count)".utf8)
        return Array((Digest.sha384(seed) + Digest.sha384(seed.reversed())).prefix(count))
    }
}

// The attributes of one purchase, inside attribute 17.
extension SimulatedReceipt {
    package static func attributes(of purchase: Transaction) -> [Attribute] {
        let original = purchase.originallyPurchasedAt ?? purchase.purchasedAt
        let isTrial = purchase.offer?.kind == .introductory && purchase.offer?.discount == "FREE_TRIAL"
        let isIntroductory = purchase.offer?.kind == .introductory && !isTrial
        var attributes = [
            Attribute(1_701, number: Int64(purchase.quantity)),
            Attribute(1_702, text: purchase.product.text),
            Attribute(1_703, text: purchase.id.description),
            Attribute(1_704, date: AppleDateText.zulu(purchase.purchasedAt)),
            Attribute(1_705, text: (purchase.originalID ?? purchase.id).description),
            Attribute(1_706, date: AppleDateText.zulu(original)),
            Attribute(1_707, number: typeNumber(purchase.kind)),
            Attribute(1_708, date: purchase.expiresAt.map(AppleDateText.zulu) ?? ""),
            Attribute(1_709, text: ""),
            Attribute(1_710, number: 0),
            Attribute(1_711, number: purchase.webOrderLineItem.flatMap { Int64($0) } ?? 0),
            Attribute(1_712, date: purchase.revocation.map { AppleDateText.zulu($0.at) } ?? ""),
            Attribute(1_713, number: isTrial ? 1 : 0),
            Attribute(1_716, text: ""),
            Attribute(1_717, text: ""),
            Attribute(1_718, text: ""),
            Attribute(1_719, number: isIntroductory ? 1 : 0),
            Attribute(1_722, number: 0),
        ]
        if purchase.offer?.kind == .promotional, let identifier = purchase.offer?.identifier {
            attributes.append(Attribute(1_721, text: identifier))
        }
        return attributes
    }

    package static func xcodeAttributes(of purchase: Transaction) -> [Attribute] {
        var attributes = [
            Attribute(1_701, number: Int64(purchase.quantity)),
            Attribute(1_702, text: purchase.product.text),
            Attribute(1_703, text: purchase.id.description),
            Attribute(1_704, date: AppleDateText.xcode(purchase.purchasedAt)),
        ]
        if let originalID = purchase.originalID, originalID != purchase.id {
            let original = purchase.originallyPurchasedAt ?? purchase.purchasedAt
            attributes.append(Attribute(1_705, text: originalID.description))
            attributes.append(Attribute(1_706, date: AppleDateText.xcode(original)))
        }
        attributes.append(Attribute(1_708, date: purchase.expiresAt.map(AppleDateText.xcode) ?? ""))
        if let revocation = purchase.revocation {
            attributes.append(Attribute(1_712, date: AppleDateText.xcode(revocation.at)))
        }
        attributes.append(Attribute(1_719, number: purchase.offer?.kind == .introductory ? 1 : 0))
        return attributes
    }

    private static func typeNumber(_ kind: ProductKind?) -> Int64 {
        switch kind {
        case .consumable?: 1
        case .nonRenewing?: 2
        case .autoRenewable?: 3
        case .freeSubscription?: 4
        default: 0
        }
    }
}
