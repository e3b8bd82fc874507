import AppleFormats
package import Crypto

/// One thing that is wrong with an app receipt whose chain is right.
package enum ReceiptFlaw: String, Hashable, Sendable, CaseIterable {
    case noCertificates
    /// The signer's certificate is not among those that are sent.
    case signerNotIncluded
    /// Two signers, both right.
    case twoSigners
    case noSigners
    /// Signed attributes, rightly made: right CMS, but not what Apple writes.
    case signedAttributes
    /// Rightly signed attributes whose digest is of other content.
    case signedAttributesOfOtherContent
    /// Named by its key instead of issuer and serial number.
    case signerNamedByKey
    case signerSerialWrong
    case signerIssuerWrong
    /// Changed after it was signed.
    case contentChanged
    /// Left out.
    case contentMissing
    case contentTypeWrong
    /// Signed over another digest than it says.
    case digestMismatch
    case signatureBitFlipped, signatureShortened, signatureEmpty
    case truncated
    /// Bytes after the end.
    case trailingBytes
}

extension ReceiptSigner {
    /// A receipt that is wrong in one way.
    package func sign(_ receipt: SimulatedReceipt, flaw: ReceiptFlaw) throws(CryptoError) -> [UInt8] {
        var envelope = try envelope(receipt.content)
        guard var signer = envelope.signers.first else { return envelope.der }
        switch flaw {
        case .truncated: return envelope.der.dropLast()
        case .trailingBytes: return envelope.der + [0]
        case .noCertificates: envelope.certificates = []
        case .signerNotIncluded: envelope.certificates.removeAll { $0 == chain.signer.der }
        case .twoSigners: envelope.signers.append(signer)
        case .noSigners: envelope.signers = []
        case .contentChanged:
            var changed = receipt
            changed.app.version += "1"
            envelope.content = changed.content
        case .contentMissing: envelope.content = nil
        case .contentTypeWrong: envelope.contentType = .signedData
        case .signedAttributes, .signedAttributesOfOtherContent:
            let isRight = flaw == .signedAttributes
            try addSignedAttributes(to: &signer, over: isRight ? receipt.content : receipt.content + [0])
        case .digestMismatch:
            signer.signature = try chain.key.sign(receipt.content, digest: digest == .sha1 ? .sha256 : .sha1)
        case .signerNamedByKey: signer.keyIdentifier = chain.signer.publicKey.identifier
        case .signerSerialWrong: signer.serial[signer.serial.count - 1] ^= 1
        case .signerIssuerWrong: signer.issuer = chain.signer.fields.subjectDER
        case .signatureBitFlipped: signer.signature[signer.signature.count / 2] ^= 1
        case .signatureShortened: signer.signature.removeLast()
        case .signatureEmpty: signer.signature = []
        }
        if envelope.signers.count == 1 { envelope.signers[0] = signer }
        return envelope.der
    }

    /// RFC 5652 §§ 5.4, 11.1, 11.2: content type and message digest, signed as a SET.
    private func addSignedAttributes(
        to signer: inout ReceiptEnvelope.Signer,
        over content: [UInt8]
    ) throws(CryptoError) {
        let attributes = [
            DERWriter.encode { writer in
                writer.sequence { writer in
                    writer.objectID(Self.contentTypeAttribute)
                    writer.constructed(.set) { $0.objectID(.data) }
                }
            },
            DERWriter.encode { writer in
                writer.sequence { writer in
                    writer.objectID(Self.messageDigestAttribute)
                    writer.constructed(.set) { $0.octetString(digest.hash(content.span)) }
                }
            },
        ]
        signer.signedAttributes = attributes
        let signed = DERWriter.encode { $0.set(of: attributes) }
        signer.signature = try chain.key.sign(signed, digest: digest)
    }

    /// 1.2.840.113549.1.9.3.
    private static let contentTypeAttribute = DERObjectID(bytes: [
        0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03,
    ])
    /// 1.2.840.113549.1.9.4.
    private static let messageDigestAttribute = DERObjectID(bytes: [
        0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04,
    ])
}
