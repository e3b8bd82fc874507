/// The envelope of an app receipt: PKCS#7 SignedData, opened but not trusted.
///
/// Parts are slices of the bytes that were given; only content that came in pieces is copied. A class, as its dozen parts are
/// handed on from check to check together.
/// Source: RFC 5652 §§ 3, 5.1; RFC 2315 § 9.1; for what Apple writes, docs of its receipts and 189 real ones.
package final class SignedData: Sendable {
    /// Apple's receipts have three certificates, Xcode's one.
    package static let certificatesMax = 16
    /// Apple's receipts have one signer.
    package static let signersMax = 8

    package let version: Int64
    package let digestAlgorithms: [DERObjectID]
    package let contentType: DERObjectID
    /// What is signed: the octets of the content without tag and length, its pieces joined.
    package let content: ArraySlice<UInt8>
    /// DER of each certificate, in the order in which they came.
    package let certificates: [ArraySlice<UInt8>]
    /// All certificates as one stretch, to compare with one seen before; nil when there are none.
    package let certificateBlock: ArraySlice<UInt8>?
    package let hasRevocationLists: Bool
    package let signers: [SignerInfo]

    /// Opens the envelope; definite and indefinite lengths pass, bytes behind the end do not.
    package init(_ bytes: [UInt8]) throws(FormatFault) {
        let span = bytes.span
        var outer = DERCursor(0..<bytes.count, rules: .ber)
        let contentInfo = try outer.next(.sequence, in: span)
        try outer.finish()
        var info = try outer.inside(contentInfo)
        guard try info.objectID(in: span, of: bytes) == .signedData else {
            throw .invalidValue(field: "contentType")
        }
        let wrapped = try info.next(.context(0, isConstructed: true), in: span)
        try info.finish()
        var wrapper = try info.inside(wrapped)
        let signedData = try wrapper.next(.sequence, in: span)
        try wrapper.finish()

        var fields = try wrapper.inside(signedData)
        version = try fields.smallInteger("version", in: span)
        digestAlgorithms = try fields.algorithms(in: span, of: bytes)
        (contentType, content) = try fields.encapsulatedContent(in: span, of: bytes)
        if let block = try fields.nextIfPresent(.context(0, isConstructed: true), in: span) {
            certificates = try fields.certificates(in: block, span: span, of: bytes)
            certificateBlock = bytes[block.content]
        } else {
            certificates = []
            certificateBlock = nil
        }
        hasRevocationLists = try fields.nextIfPresent(.context(1, isConstructed: true), in: span) != nil
        signers = try fields.signers(in: span, of: bytes)
        try fields.finish()
    }
}

/// Who signed, with what, and the signature.
package final class SignerInfo: Sendable {
    /// How the signer's certificate is named.
    package enum Identity: Hashable, Sendable {
        /// DER of the issuer's name, and the content octets of the serial number.
        case issuerAndSerial(issuer: ArraySlice<UInt8>, serial: ArraySlice<UInt8>)
        case subjectKeyIdentifier(ArraySlice<UInt8>)
    }

    package let version: Int64
    package let identity: Identity
    package let digestAlgorithm: DERObjectID
    /// The `[0]` element as it stands, tag included. Genuine receipts have none: the signature is over the content.
    package let signedAttributes: ArraySlice<UInt8>?
    package let signatureAlgorithm: DERObjectID
    package let signature: ArraySlice<UInt8>
    package let unsignedAttributes: ArraySlice<UInt8>?

    fileprivate init(_ signer: DERCursor, in span: Span<UInt8>, of bytes: [UInt8]) throws(FormatFault) {
        var fields = signer
        version = try fields.smallInteger("signerInfo.version", in: span)
        identity = try fields.identity(in: span, of: bytes)
        digestAlgorithm = try fields.algorithm(in: span, of: bytes)
        signedAttributes =
            try fields.nextIfPresent(.context(0, isConstructed: true), in: span).map { bytes[$0.whole] }
        signatureAlgorithm = try fields.algorithm(in: span, of: bytes)
        signature = try fields.octets(sizeMax: 4_096, in: span, of: bytes)
        unsignedAttributes =
            try fields.nextIfPresent(.context(1, isConstructed: true), in: span).map { bytes[$0.whole] }
        try fields.finish()
    }
}

/// The parts of SignedData, each read where the cursor stands.
extension DERCursor {
    fileprivate mutating func objectID(in span: Span<UInt8>, of bytes: [UInt8]) throws(FormatFault) -> DERObjectID {
        let element = try next(.objectID, in: span)
        guard !element.content.isEmpty, element.content.count <= 32 else { throw .invalidLength(at: element.start) }
        return DERObjectID(bytes[element.content])
    }

    fileprivate mutating func smallInteger(_ field: String, in span: Span<UInt8>) throws(FormatFault) -> Int64 {
        let element = try next(.integer, in: span)
        guard let value = DERCursor.integer(element.content, in: span) else { throw .invalidValue(field: field) }
        return value
    }

    /// An AlgorithmIdentifier; its parameters do not matter for RSA and the SHA family.
    fileprivate mutating func algorithm(in span: Span<UInt8>, of bytes: [UInt8]) throws(FormatFault) -> DERObjectID {
        let element = try next(.sequence, in: span)
        var fields = try inside(element)
        return try fields.objectID(in: span, of: bytes)
    }

    fileprivate mutating func algorithms(
        in span: Span<UInt8>,
        of bytes: [UInt8]
    ) throws(FormatFault) -> [DERObjectID] {
        let element = try next(.set, in: span)
        var members = try inside(element)
        var algorithms: [DERObjectID] = []
        while !members.isAtEnd {
            guard algorithms.count < SignedData.signersMax else { throw .tooLarge(at: members.position) }
            algorithms.append(try members.algorithm(in: span, of: bytes))
        }
        return algorithms
    }

    fileprivate mutating func octets(
        sizeMax: Int,
        in span: Span<UInt8>,
        of bytes: [UInt8]
    ) throws(FormatFault) -> ArraySlice<UInt8> {
        guard let element = try next(in: span) else { throw .truncated(at: position) }
        switch element.tag {
        case .octetString:
            guard element.content.count <= sizeMax else { throw .tooLarge(at: element.start) }
            return bytes[element.content]
        case .constructedOctetString:
            return try flattened(element, sizeMax: sizeMax, in: span)[...]
        default:
            throw .unexpectedTag(element.tag.rawValue, at: element.start)
        }
    }

    fileprivate mutating func encapsulatedContent(
        in span: Span<UInt8>,
        of bytes: [UInt8]
    ) throws(FormatFault) -> (DERObjectID, ArraySlice<UInt8>) {
        let element = try next(.sequence, in: span)
        var fields = try inside(element)
        let type = try fields.objectID(in: span, of: bytes)
        guard let wrapped = try fields.nextIfPresent(.context(0, isConstructed: true), in: span) else {
            throw .missing(field: "content")
        }
        try fields.finish()
        var wrapper = try fields.inside(wrapped)
        let content = try wrapper.octets(sizeMax: bytes.count, in: span, of: bytes)
        try wrapper.finish()
        return (type, content)
    }

    fileprivate func certificates(
        in block: DERElement,
        span: Span<UInt8>,
        of bytes: [UInt8]
    ) throws(FormatFault) -> [ArraySlice<UInt8>] {
        var members = try inside(block)
        var certificates: [ArraySlice<UInt8>] = []
        // As many as Apple's receipts have.
        certificates.reserveCapacity(3)
        while !members.isAtEnd {
            guard certificates.count < SignedData.certificatesMax else { throw .tooLarge(at: members.position) }
            certificates.append(bytes[try members.next(.sequence, in: span).whole])
        }
        return certificates
    }

    fileprivate mutating func identity(
        in span: Span<UInt8>,
        of bytes: [UInt8]
    ) throws(FormatFault) -> SignerInfo.Identity {
        if let key = try nextIfPresent(.context(0, isConstructed: false), in: span) {
            return .subjectKeyIdentifier(bytes[key.content])
        }
        let element = try next(.sequence, in: span)
        var fields = try inside(element)
        let issuer = try fields.next(.sequence, in: span)
        let serial = try fields.next(.integer, in: span)
        try fields.finish()
        return .issuerAndSerial(issuer: bytes[issuer.whole], serial: bytes[serial.content])
    }

    fileprivate mutating func signers(in span: Span<UInt8>, of bytes: [UInt8]) throws(FormatFault) -> [SignerInfo] {
        let element = try next(.set, in: span)
        var members = try inside(element)
        var signers: [SignerInfo] = []
        while !members.isAtEnd {
            guard signers.count < SignedData.signersMax else { throw .tooLarge(at: members.position) }
            let signer = try members.next(.sequence, in: span)
            signers.append(try SignerInfo(try members.inside(signer), in: span, of: bytes))
        }
        return signers
    }
}
