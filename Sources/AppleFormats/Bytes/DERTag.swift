/// The identifier octet of an ASN.1 element: class, primitive or constructed, and a number below 31.
///
/// Higher numbers need more octets; nothing that Apple sends has one, so they have no value here.
/// Source: ITU-T X.690 § 8.1.2.
package struct DERTag: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let endOfContents = DERTag(rawValue: 0x00)
    package static let boolean = DERTag(rawValue: 0x01)
    package static let integer = DERTag(rawValue: 0x02)
    package static let bitString = DERTag(rawValue: 0x03)
    package static let octetString = DERTag(rawValue: 0x04)
    package static let null = DERTag(rawValue: 0x05)
    package static let objectID = DERTag(rawValue: 0x06)
    package static let utf8String = DERTag(rawValue: 0x0C)
    package static let printableString = DERTag(rawValue: 0x13)
    package static let ia5String = DERTag(rawValue: 0x16)
    package static let utcTime = DERTag(rawValue: 0x17)
    package static let generalizedTime = DERTag(rawValue: 0x18)
    package static let constructedOctetString = DERTag(rawValue: 0x24)
    package static let sequence = DERTag(rawValue: 0x30)
    package static let set = DERTag(rawValue: 0x31)

    /// A context-specific tag, such as `[0]`; only the five low bits of `number` count.
    package static func context(_ number: UInt8, isConstructed: Bool) -> DERTag {
        DERTag(rawValue: 0x80 | (isConstructed ? 0x20 : 0x00) | (number & 0x1F))
    }

    package var isConstructed: Bool { rawValue & 0x20 != 0 }
    package var isUniversal: Bool { rawValue & 0xC0 == 0 }
    package var number: UInt8 { rawValue & 0x1F }
}
