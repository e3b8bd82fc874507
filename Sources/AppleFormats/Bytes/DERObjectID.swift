/// An ASN.1 object identifier, kept as its content octets: comparing two is comparing bytes.
package struct DERObjectID: Hashable, Sendable {
    /// The octets after tag and length.
    package let bytes: ArraySlice<UInt8>

    package init(bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// A part of what was read, which is not copied.
    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Encodes arcs such as `[1, 2, 840, 113549]`; nil when there are fewer than two or the first two are impossible.
    package init?(arcs: [UInt64]) {
        guard arcs.count >= 2, arcs[0] <= 2, arcs[1] < 40 || (arcs[0] == 2 && arcs[1] < 1_000) else { return nil }
        var bytes: [UInt8] = []
        for arc in [arcs[0] * 40 + arcs[1]] + arcs[2...] {
            var groups: [UInt8] = [UInt8(truncatingIfNeeded: arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                groups.append(UInt8(truncatingIfNeeded: rest & 0x7F) | 0x80)
                rest >>= 7
            }
            bytes.append(contentsOf: groups.reversed())
        }
        self.bytes = bytes[...]
    }

    /// PKCS#7 `data`, 1.2.840.113549.1.7.1.
    package static let data = DERObjectID(bytes: [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01])
    /// PKCS#7 `signedData`, 1.2.840.113549.1.7.2.
    package static let signedData = DERObjectID(bytes: [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02])
    /// 1.2.840.113549.1.1.1.
    package static let rsaEncryption = DERObjectID(bytes: [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01])
    /// 1.2.840.113549.1.1.5.
    package static let sha1WithRSA = DERObjectID(bytes: [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05])
    /// 1.2.840.113549.1.1.11.
    package static let sha256WithRSA = DERObjectID(bytes: [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B])
    /// 1.3.14.3.2.26.
    package static let sha1 = DERObjectID(bytes: [0x2B, 0x0E, 0x03, 0x02, 0x1A])
    /// 2.16.840.1.101.3.4.2.1.
    package static let sha256 = DERObjectID(bytes: [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01])
}

extension DERObjectID: CustomStringConvertible {
    /// Dotted arcs; `?` in place of an arc that is cut off or does not fit 64 bits.
    package var description: String {
        var text = ""
        var arc: UInt64 = 0
        var isOpen = false
        var isTooBig = false
        for byte in bytes {
            isTooBig = isTooBig || arc >> 57 != 0
            arc = arc << 7 | UInt64(byte & 0x7F)
            isOpen = byte & 0x80 != 0
            guard !isOpen else { continue }
            if isTooBig {
                text += text.isEmpty ? "?" : ".?"
            } else if text.isEmpty {
                let first = min(arc / 40, 2)
                text = "\(first).\(arc - first * 40)"
            } else {
                text += ".\(arc)"
            }
            arc = 0
            isTooBig = false
        }
        return isOpen || text.isEmpty ? text + "?" : text
    }
}
