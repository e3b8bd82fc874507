import AppleFormats
import Testing

/// A receipt taken apart, to be put together in another way: what is not signed may be written by anybody.
struct ReencodedReceipt {
    var content: [UInt8]
    /// The content in pieces of so many bytes, as BER allows; `nil` for one.
    var pieceSize: Int?
    /// DER; whatever stands here is written as it is.
    var certificates: [[UInt8]]
    var issuer: [UInt8]
    var serial: [UInt8]
    var digestAlgorithm: DERObjectID
    var signatureAlgorithm: DERObjectID
    var signature: [UInt8]

    private struct NamedByKey: Error {}

    init(_ bytes: [UInt8]) throws {
        let envelope = try SignedData(bytes)
        let signer = try #require(envelope.signers.first)
        guard case .issuerAndSerial(let issuer, let serial) = signer.identity else { throw NamedByKey() }
        content = Array(envelope.content)
        certificates = envelope.certificates.map { Array($0) }
        self.issuer = Array(issuer)
        self.serial = Array(serial)
        digestAlgorithm = signer.digestAlgorithm
        signatureAlgorithm = signer.signatureAlgorithm
        signature = Array(signer.signature)
    }

    var encoded: [UInt8] {
        DERWriter.encode { writer in
            writer.indefinite(.sequence) { writer in
                writer.objectID(.signedData)
                writer.indefinite(.context(0, isConstructed: true)) { writer in
                    writer.indefinite(.sequence) { writer in
                        writer.integer(1)
                        writer.constructed(.set) { Self.write(digestAlgorithm, to: &$0) }
                        writeContent(to: &writer)
                        writer.constructed(.context(0, isConstructed: true)) { writer in
                            for certificate in certificates { writer.raw(certificate) }
                        }
                        writer.constructed(.set) { writeSigner(to: &$0) }
                    }
                }
            }
        }
    }

    private func writeContent(to writer: inout DERWriter) {
        writer.indefinite(.sequence) { writer in
            writer.objectID(.data)
            writer.indefinite(.context(0, isConstructed: true)) { writer in
                guard let pieceSize else { return writer.octetString(content) }
                writer.indefinite(.constructedOctetString) { writer in
                    for start in stride(from: 0, to: content.count, by: pieceSize) {
                        writer.octetString(Array(content[start..<min(start + pieceSize, content.count)]))
                    }
                }
            }
        }
    }

    private func writeSigner(to writer: inout DERWriter) {
        writer.sequence { writer in
            writer.integer(1)
            writer.sequence { writer in
                writer.raw(issuer)
                writer.primitive(.integer, serial)
            }
            Self.write(digestAlgorithm, to: &writer)
            Self.write(signatureAlgorithm, to: &writer)
            writer.octetString(signature)
        }
    }

    private static func write(_ algorithm: DERObjectID, to writer: inout DERWriter) {
        writer.sequence { writer in
            writer.objectID(algorithm)
            writer.null()
        }
    }
}
