import AppleFormats
import Testing

@Suite("The signed envelope")
struct SignedDataTests {
    static let content: [UInt8] = ReceiptSamples.content(purchases: 2)
    static let fromAppStore: [UInt8] = ReceiptSamples.envelope(content: content)
    static let fromXcode: [UInt8] = ReceiptSamples.xcodeEnvelope(pieces: [content])

    @Test("opens as the App Store writes it")
    func genuine() throws {
        let envelope = try SignedData(Self.fromAppStore)
        #expect(envelope.version == 1)
        #expect(envelope.digestAlgorithms == [.sha256])
        #expect(envelope.contentType == .data)
        #expect(envelope.content.elementsEqual(Self.content))
        #expect(envelope.certificates.map(Array.init) == [1, 2].map(ReceiptSamples.certificate))
        #expect(envelope.certificateBlock.map(Array.init) == [1, 2].flatMap(ReceiptSamples.certificate))
        #expect(!envelope.hasRevocationLists)
        let signer = try #require(envelope.signers.first)
        #expect(envelope.signers.count == 1)
        #expect(signer.version == 1)
        #expect(signer.identity == .issuerAndSerial(issuer: ReceiptSamples.issuer[...], serial: [0x7D, 0x39, 0x20]))
        #expect(signer.digestAlgorithm == .sha256)
        #expect(signer.signatureAlgorithm == .rsaEncryption)
        #expect(signer.signedAttributes == nil)
        #expect(signer.unsignedAttributes == nil)
        #expect(Array(signer.signature) == [UInt8](repeating: 0xA5, count: 256))
    }

    @Test("opens as Xcode writes it, however its content is cut", arguments: [1, 3, 8], [1, 2, 10])
    func xcode(pieceCount: Int, nesting: Int) throws {
        let size = Self.content.count / pieceCount + 1
        let pieces = stride(from: 0, to: Self.content.count, by: size).map {
            Array(Self.content[$0..<min($0 + size, Self.content.count)])
        }
        let envelope = try SignedData(ReceiptSamples.xcodeEnvelope(pieces: pieces, nesting: nesting))
        #expect(envelope.content.elementsEqual(Self.content))
        #expect(envelope.certificates.count == 1)
    }

    @Test("refuses content in pieces that are nested too deep")
    func deepPieces() {
        #expect(throws: FormatFault.self) {
            try SignedData(ReceiptSamples.xcodeEnvelope(pieces: [Self.content], nesting: 40))
        }
    }

    @Test("refuses bytes behind its end", arguments: [fromAppStore, fromXcode])
    func trailing(bytes: [UInt8]) {
        #expect(throws: FormatFault.trailingBytes(at: bytes.count)) { try SignedData(bytes + [0]) }
        #expect(throws: FormatFault.trailingBytes(at: bytes.count)) { try SignedData(bytes + bytes) }
    }

    @Test("refuses to be cut at any byte", arguments: [fromAppStore, fromXcode])
    func truncation(bytes: [UInt8]) {
        for count in 0..<bytes.count {
            #expect(throws: FormatFault.self) { try SignedData(Array(bytes.prefix(count))) }
        }
    }

    @Test("never traps on a changed byte", arguments: [fromAppStore, fromXcode])
    func mutation(bytes: [UInt8]) {
        for offset in bytes.indices {
            for flip: UInt8 in [0x01, 0x20, 0x80, 0xFF] {
                var changed = bytes
                changed[offset] ^= flip
                if let envelope = try? SignedData(changed) {
                    _ = try? AppReceipt(envelope.content)
                }
            }
        }
    }

    @Test("names a signer by its key too")
    func subjectKey() throws {
        let bytes = Self.signed { data in
            data.constructed(.set) { signers in
                signers.sequence { signer in
                    signer.integer(3)
                    signer.primitive(.context(0, isConstructed: false), [9, 8, 7])
                    signer.sequence { $0.objectID(.sha1) }
                    signer.constructed(.context(0, isConstructed: true)) { $0.null() }
                    signer.sequence { $0.objectID(.sha1WithRSA) }
                    signer.octetString([1])
                    signer.constructed(.context(1, isConstructed: true)) { $0.null() }
                }
            }
        }
        let signer = try #require(SignedData(bytes).signers.first)
        #expect(signer.identity == .subjectKeyIdentifier([9, 8, 7]))
        #expect(signer.signedAttributes.map(Array.init) == [0xA0, 2, 5, 0])
        #expect(signer.unsignedAttributes.map(Array.init) == [0xA1, 2, 5, 0])
        #expect(signer.signatureAlgorithm == .sha1WithRSA)
    }

    @Test("may have no certificate and no signer, which the verifier will refuse")
    func bare() throws {
        let envelope = try SignedData(Self.signed { $0.constructed(.set) { _ in } })
        #expect(envelope.certificates.isEmpty)
        #expect(envelope.certificateBlock == nil)
        #expect(envelope.signers.isEmpty)
    }

    @Test("refuses other content types and an envelope without content")
    func otherShapes() {
        let other = DERWriter.encode { writer in
            writer.sequence { info in
                info.objectID(.data)
                info.constructed(.context(0, isConstructed: true)) { $0.octetString([]) }
            }
        }
        #expect(throws: FormatFault.invalidValue(field: "contentType")) { try SignedData(other) }
        #expect(throws: FormatFault.missing(field: "content")) {
            try SignedData(Self.signed(hasContent: false) { $0.constructed(.set) { _ in } })
        }
        #expect(throws: FormatFault.truncated(at: 0)) { try SignedData([]) }
        #expect(throws: FormatFault.unexpectedTag(0x7B, at: 0)) { try SignedData([0x7B, 0x00]) }
    }

    @Test("refuses more certificates and signers than any genuine one has")
    func limits() {
        let certificates = [[UInt8]](repeating: ReceiptSamples.certificate(1), count: SignedData.certificatesMax + 1)
        #expect(throws: FormatFault.self) {
            try SignedData(ReceiptSamples.envelope(content: Self.content, certificates: certificates))
        }
    }

    /// An envelope around empty content, whose last part `tail` writes.
    static func signed(hasContent: Bool = true, _ tail: (inout DERWriter) -> Void) -> [UInt8] {
        DERWriter.encode { writer in
            writer.sequence { info in
                info.objectID(.signedData)
                info.constructed(.context(0, isConstructed: true)) { wrapper in
                    wrapper.sequence { data in
                        data.integer(1)
                        data.constructed(.set) { _ in }
                        data.sequence { encapsulated in
                            encapsulated.objectID(.data)
                            guard hasContent else { return }
                            encapsulated.constructed(.context(0, isConstructed: true)) { $0.octetString([]) }
                        }
                        tail(&data)
                    }
                }
            }
        }
    }
}
