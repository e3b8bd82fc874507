import AppleFormats

/// Receipts of our own making, by the same rules as Apple's.
enum ReceiptSamples {
    static let bundleID = "com.example.app"
    static let creationDate = "2024-02-23T17:27:16Z"

    /// An attribute whose value is wrapped DER.
    static func attribute(_ type: Int64, version: Int64 = 1, _ body: (inout DERWriter) -> Void) -> [UInt8] {
        attribute(type, version: version, value: DERWriter.encode(body))
    }

    static func attribute(_ type: Int64, version: Int64 = 1, value: [UInt8]) -> [UInt8] {
        DERWriter.encode { writer in
            writer.sequence { fields in
                fields.integer(type)
                fields.integer(version)
                fields.octetString(value)
            }
        }
    }

    static func text(_ type: Int64, _ text: String) -> [UInt8] {
        attribute(type) { $0.utf8String(text) }
    }

    static func date(_ type: Int64, _ text: String) -> [UInt8] {
        attribute(type) { $0.ia5String(text) }
    }

    static func number(_ type: Int64, _ value: Int64) -> [UInt8] {
        attribute(type) { $0.integer(value) }
    }

    static func set(_ attributes: [[UInt8]]) -> [UInt8] {
        DERWriter.encode { $0.set(of: attributes) }
    }

    /// The attributes of a subscription's period.
    static func subscription(transaction: String, web: Int64 = 1_000_000_029_801_036) -> [[UInt8]] {
        [
            number(1_701, 1), text(1_702, "com.example.pro.month"), text(1_703, transaction),
            date(1_704, "2024-02-23T17:20:00Z"), text(1_705, "1000000156444989"),
            date(1_706, "2024-01-23T17:20:01Z"), number(1_707, 3), date(1_708, "2024-03-23T17:20:00Z"),
            text(1_709, ""), number(1_710, 0), number(1_711, web), date(1_712, ""), number(1_713, 0),
            text(1_714, ""), text(1_715, ""), text(1_716, ""), text(1_717, ""), text(1_718, ""),
            number(1_719, 1), number(1_722, 0),
        ]
    }

    /// The receipt's own attributes, without purchases.
    static func head() -> [[UInt8]] {
        [
            text(0, "Production"), number(1, 690_661_663), text(2, bundleID), text(3, "434"),
            attribute(4, version: 2, value: Array(1...16)), attribute(5, value: Array(101...120)),
            attribute(6, value: [0x31, 0x80, 0x00, 0xFF]), attribute(7, value: [0x30]),
            date(8, "2024-02-23T17:27:15Z"), number(9, 1_345_531_954), date(10, "4+"), number(11, 14_265),
            date(12, creationDate), number(13, 170_200), number(14, 229), number(15, 502_787_298_214_239_215),
            number(16, 863_855_306), date(18, "2013-08-01T07:00:00Z"), text(19, "1.0"), text(20, ""), number(25, 3),
        ]
    }

    static func purchase(_ attributes: [[UInt8]]) -> [UInt8] {
        attribute(17, value: set(attributes))
    }

    static func content(purchases: Int) -> [UInt8] {
        let entries = (0..<purchases).map { purchase(subscription(transaction: String(1_000_000_156_444_989 + $0))) }
        return set(head() + entries)
    }

    static let issuer: [UInt8] = DERWriter.encode { writer in
        writer.sequence { name in
            name.constructed(.set) { part in
                part.sequence { attribute in
                    attribute.objectID(DERObjectID(bytes: [0x55, 0x04, 0x03]))
                    attribute.utf8String("Test")
                }
            }
        }
    }

    /// Something that looks like a certificate from afar.
    static func certificate(_ number: UInt8) -> [UInt8] {
        DERWriter.encode { $0.sequence { $0.octetString([UInt8](repeating: number, count: 300)) } }
    }

    /// An envelope as the App Store writes it.
    static func envelope(content: [UInt8], certificates: [[UInt8]] = [certificate(1), certificate(2)]) -> [UInt8] {
        DERWriter.encode { writer in
            writer.sequence { info in
                info.objectID(.signedData)
                info.constructed(.context(0, isConstructed: true)) { wrapper in
                    wrapper.sequence { data in
                        head(of: &data)
                        data.sequence { encapsulated in
                            encapsulated.objectID(.data)
                            encapsulated.constructed(.context(0, isConstructed: true)) { $0.octetString(content) }
                        }
                        tail(of: &data, certificates: certificates)
                    }
                }
            }
        }
    }

    /// An envelope as Xcode writes it: indefinite lengths, the content in pieces.
    static func xcodeEnvelope(pieces: [[UInt8]], nesting: Int = 1) -> [UInt8] {
        DERWriter.encode { writer in
            writer.indefinite(.sequence) { info in
                info.objectID(.signedData)
                info.indefinite(.context(0, isConstructed: true)) { wrapper in
                    wrapper.indefinite(.sequence) { data in
                        head(of: &data)
                        data.indefinite(.sequence) { encapsulated in
                            encapsulated.objectID(.data)
                            encapsulated.indefinite(.context(0, isConstructed: true)) { wrapper in
                                octets(pieces, nesting: nesting, in: &wrapper)
                            }
                        }
                        tail(of: &data, certificates: [certificate(1)])
                    }
                }
            }
        }
    }

    private static func octets(_ pieces: [[UInt8]], nesting: Int, in writer: inout DERWriter) {
        writer.indefinite(.octetString) { inner in
            if nesting > 1 {
                octets(pieces, nesting: nesting - 1, in: &inner)
            } else {
                for piece in pieces { inner.octetString(piece) }
            }
        }
    }

    private static func head(of data: inout DERWriter) {
        data.integer(1)
        data.constructed(.set) { algorithm(.sha256, in: &$0) }
    }

    private static func tail(of data: inout DERWriter, certificates: [[UInt8]]) {
        data.constructed(.context(0, isConstructed: true)) { block in
            for certificate in certificates { block.raw(certificate) }
        }
        data.constructed(.set) { signers in
            signers.sequence { signer in
                signer.integer(1)
                signer.sequence { identity in
                    identity.raw(issuer)
                    identity.natural([0x7D, 0x39, 0x20])
                }
                algorithm(.sha256, in: &signer)
                algorithm(.rsaEncryption, in: &signer)
                signer.octetString([UInt8](repeating: 0xA5, count: 256))
            }
        }
    }

    private static func algorithm(_ id: DERObjectID, in writer: inout DERWriter) {
        writer.sequence { fields in
            fields.objectID(id)
            fields.null()
        }
    }
}
