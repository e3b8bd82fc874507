import AppleFormats
package import Crypto

/// Signs app receipts: PKCS#7 SignedData in exactly the shape of Apple's.
///
/// Source: RFC 5652 §§ 3, 5.1, 5.3. Apple signs the content itself, without signed attributes, and names RSA alone as
/// the signature's algorithm even where the digest is SHA-256.
package struct ReceiptSigner: Sendable {
    package var chain: SigningChain
    /// `sha1` or `sha256`.
    package var digest: Digest

    package init(_ chain: SigningChain, digest: Digest) {
        self.chain = chain
        self.digest = digest
    }

    package func sign(_ receipt: SimulatedReceipt) throws(CryptoError) -> [UInt8] {
        try sign(content: receipt.content)
    }

    /// Signs any bytes as the content.
    package func sign(content: [UInt8]) throws(CryptoError) -> [UInt8] {
        try envelope(content).der
    }

    /// Signs as Xcode does: indefinite lengths, and the content in a constructed string.
    package func signAsXcode(_ receipt: SimulatedReceipt) throws(CryptoError) -> [UInt8] {
        let content = SimulatedReceipt.content(receipt.xcodeAttributes, isSorted: false)
        var envelope = try envelope(content)
        for index in envelope.signers.indices { envelope.signers[index].signatureAlgorithm = .sha256WithRSA }
        return envelope.ber
    }

    /// A right envelope around the content, to be changed by who wants a wrong one.
    func envelope(_ content: [UInt8]) throws(CryptoError) -> ReceiptEnvelope {
        let signature = try chain.key.sign(content, digest: digest)
        return ReceiptEnvelope(
            digests: [ReceiptSigner.objectID(digest)],
            content: content,
            certificates: chain.certificates,
            signers: [
                ReceiptEnvelope.Signer(
                    issuer: chain.signer.fields.issuerDER,
                    serial: chain.signer.fields.serial,
                    digest: ReceiptSigner.objectID(digest),
                    signature: signature
                )
            ]
        )
    }

    static func objectID(_ digest: Digest) -> DERObjectID {
        digest == .sha1 ? .sha1 : .sha256
    }
}

/// SignedData before it is encoded.
struct ReceiptEnvelope {
    var digests: [DERObjectID]
    var contentType = DERObjectID.data
    /// `nil`: the content is left out ("detached").
    var content: [UInt8]?
    var certificates: [[UInt8]]
    var signers: [Signer]

    struct Signer {
        /// DER of the name.
        var issuer: [UInt8]
        /// The content of the INTEGER.
        var serial: [UInt8]
        /// Named by its key instead of issuer and serial, when not `nil`.
        var keyIdentifier: [UInt8]?
        var digest: DERObjectID
        /// The content of the SET, when there are signed attributes.
        var signedAttributes: [[UInt8]]?
        var signatureAlgorithm = DERObjectID.rsaEncryption
        var signature: [UInt8]
    }

    var der: [UInt8] {
        DERWriter.encode { writer in
            writer.sequence { writer in
                writer.objectID(.signedData)
                writer.constructed(.context(0, isConstructed: true)) { writer in
                    writer.sequence { writer in
                        writer.integer(1)
                        writeDigests(to: &writer)
                        writer.sequence { writer in
                            writer.objectID(contentType)
                            if let content {
                                writer.constructed(.context(0, isConstructed: true)) { $0.octetString(content) }
                            }
                        }
                        writeCertificatesAndSigners(to: &writer)
                    }
                }
            }
        }
    }

    /// Xcode's encoding; everything around the content has indefinite length.
    var ber: [UInt8] {
        DERWriter.encode { writer in
            writer.indefinite(.sequence) { writer in
                writer.objectID(.signedData)
                writer.indefinite(.context(0, isConstructed: true)) { writer in
                    writer.indefinite(.sequence) { writer in
                        writer.integer(1)
                        writeDigests(to: &writer)
                        writer.indefinite(.sequence) { writer in
                            writer.objectID(contentType)
                            writer.indefinite(.context(0, isConstructed: true)) { writer in
                                writer.indefinite(.constructedOctetString) { $0.octetString(content ?? []) }
                            }
                        }
                        writeCertificatesAndSigners(to: &writer)
                    }
                }
            }
        }
    }

    private func writeDigests(to writer: inout DERWriter) {
        writer.constructed(.set) { writer in for id in digests { Self.write(algorithm: id, to: &writer) } }
    }

    private func writeCertificatesAndSigners(to writer: inout DERWriter) {
        if !certificates.isEmpty {
            writer.constructed(.context(0, isConstructed: true)) { writer in
                for certificate in certificates { writer.raw(certificate) }
            }
        }
        writer.constructed(.set) { writer in for signer in signers { Self.write(signer, to: &writer) } }
    }

    private static func write(_ signer: Signer, to writer: inout DERWriter) {
        writer.sequence { writer in
            // RFC 5652 § 5.3: 3 when the signer is named by key.
            writer.integer(signer.keyIdentifier == nil ? 1 : 3)
            if let keyIdentifier = signer.keyIdentifier {
                writer.primitive(.context(0, isConstructed: false), keyIdentifier)
            } else {
                writer.sequence { writer in
                    writer.raw(signer.issuer)
                    writer.primitive(.integer, signer.serial)
                }
            }
            write(algorithm: signer.digest, to: &writer)
            if let attributes = signer.signedAttributes {
                writer.set(of: attributes, tag: .context(0, isConstructed: true))
            }
            write(algorithm: signer.signatureAlgorithm, to: &writer)
            writer.octetString(signer.signature)
        }
    }

    private static func write(algorithm: DERObjectID, to writer: inout DERWriter) {
        writer.sequence { writer in
            writer.objectID(algorithm)
            writer.null()
        }
    }
}
