import Encoding

/// A signed text in JWS's compact form, cut into its three parts. Nothing is decoded before it is asked for.
///
/// The header is 4.6 kB of certificates that repeat from token to token: a verifier that has seen
/// ``headerSegment`` need not decode it again. Source: RFC 7515 § 3.1; Apple, *JWSTransaction*.
package struct CompactJWS: Hashable, Sendable {
    /// A notification with three chains in it has 19 kB.
    package static let sizeMax = 1_024 * 1_024
    /// ES256: r and s, 32 octets each (RFC 7518 § 3.4).
    package static let signatureSize = 64

    /// The whole text.
    package let bytes: [UInt8]
    private let firstDot: Int
    private let secondDot: Int

    /// Cuts at the two dots; refuses more or fewer, and empty parts. Each part's letters are checked as it is decoded.
    package init(_ bytes: [UInt8]) throws(FormatFault) {
        guard bytes.count <= Self.sizeMax else { throw .tooLarge(at: Self.sizeMax) }
        func dot(from start: Int) -> Int? { ByteSearch.firstIndex(of: UInt8(ascii: "."), in: bytes.span, from: start) }
        guard let first = dot(from: 0), let second = dot(from: first + 1) else { throw .truncated(at: bytes.count) }
        if let third = dot(from: second + 1) { throw .trailingBytes(at: third) }
        guard first > 0 else { throw .invalidSyntax(at: 0) }
        guard second > first + 1 else { throw .invalidSyntax(at: second) }
        guard second + 1 < bytes.count else { throw .truncated(at: bytes.count) }
        self.bytes = bytes
        firstDot = first
        secondDot = second
    }

    /// The header as it was sent, in base64url.
    package var headerSegment: ArraySlice<UInt8> { bytes[..<firstDot] }
    /// The payload as it was sent, in base64url.
    package var payloadSegment: ArraySlice<UInt8> { bytes[(firstDot + 1)..<secondDot] }
    /// The signature as it was sent, in base64url.
    package var signatureSegment: ArraySlice<UInt8> { bytes[(secondDot + 1)...] }
    /// The beginning of what the signature covers, up to the payload: the same in many tokens.
    package var signingPrefix: ArraySlice<UInt8> { bytes[...firstDot] }
    /// What the signature covers: header, dot and payload exactly as they were sent.
    package var signingInput: ArraySlice<UInt8> { bytes[..<secondDot] }

    /// The header's JSON.
    package func headerBytes() throws(FormatFault) -> [UInt8] {
        try Self.decode(headerSegment, "header")
    }

    /// The payload's JSON.
    package func payloadBytes() throws(FormatFault) -> [UInt8] {
        try Self.decode(payloadSegment, "payload")
    }

    /// r and s, 64 octets.
    package func signature() throws(FormatFault) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Self.signatureSize)
        var output = signature.mutableSpan
        try decodeSignature(into: &output)
        return signature
    }

    /// Writes r and s to where there is room for their 64 octets.
    package func decodeSignature(into output: inout MutableSpan<UInt8>) throws(FormatFault) {
        let isWhole: Bool
        do throws(Base64Fault) {
            let segment = signatureSegment
            isWhole = try Base64.decode(segment.span, .url, padding: .forbidden, into: &output)
        } catch {
            throw .invalidValue(field: "signature")
        }
        guard isWhole, output.count == Self.signatureSize else { throw .invalidValue(field: "signature") }
    }

    private static func decode(_ segment: ArraySlice<UInt8>, _ field: String) throws(FormatFault) -> [UInt8] {
        do throws(Base64Fault) {
            return try Base64.decode(segment, .url, padding: .forbidden)
        } catch {
            throw .invalidValue(field: field)
        }
    }
}
