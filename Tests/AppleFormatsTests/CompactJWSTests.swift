import AppleFormats
import Encoding
import Testing

@Suite("A compact JWS")
struct CompactJWSTests {
    static let genuine: [UInt8] = JWSSamples.compact(payload: JWSSamples.transaction)

    @Test("is cut into its parts")
    func parts() throws {
        let jws = try CompactJWS(Self.genuine)
        #expect(try jws.headerBytes() == Array(JWSSamples.header.utf8))
        #expect(try jws.payloadBytes() == Array(JWSSamples.transaction.utf8))
        #expect(try jws.signature() == [UInt8](repeating: 0x5A, count: 64))
        #expect(Array(jws.headerSegment) == JWSSamples.segment(Array(JWSSamples.header.utf8)))
        #expect(jws.signingInput.elementsEqual(jws.headerSegment + [0x2E] + jws.payloadSegment))
        #expect(jws.bytes == Self.genuine)
        #expect(jws.signingInput.startIndex == 0)
    }

    static let bad: [(text: String, fault: FormatFault)] = [
        ("", .truncated(at: 0)), ("eyJ9", .truncated(at: 4)), ("a.b", .truncated(at: 3)), ("a.b.", .truncated(at: 4)),
        (".b.c", .invalidSyntax(at: 0)), ("a..c", .invalidSyntax(at: 2)), ("a.b.c.d", .trailingBytes(at: 5)),
        ("a.b.c.", .trailingBytes(at: 5)), ("..", .invalidSyntax(at: 0)),
    ]

    @Test("has exactly three parts", arguments: bad)
    func refused(text: String, fault: FormatFault) {
        #expect(throws: fault) { try CompactJWS(Array(text.utf8)) }
    }

    @Test(
        "takes base64url only, without padding and stray bits",
        arguments: ["e30=", "e3+", "e3/", "e 30", "e30\n", "e", "e31", "e30%3D", "é"]
    )
    func alphabet(segment: String) throws {
        let jws = try CompactJWS(Array("\(segment).\(segment).\(segment)".utf8))
        #expect(throws: FormatFault.invalidValue(field: "header")) { try jws.headerBytes() }
        #expect(throws: FormatFault.invalidValue(field: "payload")) { try jws.payloadBytes() }
        #expect(throws: FormatFault.invalidValue(field: "signature")) { try jws.signature() }
    }

    @Test("has a signature of 64 octets", arguments: [0, 1, 63, 65, 70, 72, 96])
    func signatureSize(count: Int) throws {
        let bytes = JWSSamples.compact(payload: "{}", signature: [UInt8](repeating: 1, count: max(1, count)))
        #expect(throws: FormatFault.invalidValue(field: "signature")) { try CompactJWS(bytes).signature() }
    }

    @Test("is refused beyond its limit")
    func limit() {
        let bytes = [UInt8](repeating: 0x41, count: CompactJWS.sizeMax + 1)
        #expect(throws: FormatFault.tooLarge(at: CompactJWS.sizeMax)) { try CompactJWS(bytes) }
    }

    @Test("cut or changed at any byte, fails or is decoded without a trap")
    func broken() {
        for offset in Self.genuine.indices {
            Self.decodeAll(Array(Self.genuine.prefix(offset)))
            for flip: UInt8 in [0x01, 0x02, 0x20, 0x80] {
                var changed = Self.genuine
                changed[offset] ^= flip
                Self.decodeAll(changed)
            }
        }
    }

    private static func decodeAll(_ bytes: [UInt8]) {
        guard let jws = try? CompactJWS(bytes) else { return }
        _ = try? JWSHeader(jws.headerBytes())
        _ = try? jws.signature()
        guard let document = try? JSONDocument.ofApple(jws.payloadBytes()) else { return }
        _ = PayloadKind(of: document)
        _ = try? TransactionPayload(document)
        _ = try? RenewalInfoPayload(document)
        _ = try? NotificationPayload(document)
        _ = try? AppTransactionPayload(document)
    }
}

@Suite("A JWS header")
struct JWSHeaderTests {
    private func header(_ text: String) throws -> JWSHeader {
        try JWSHeader(Array(text.utf8))
    }

    @Test("gives algorithm and certificates")
    func appStore() throws {
        let header = try header(JWSSamples.header)
        #expect(header.algorithm == "ES256")
        #expect(header.certificates == [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
        #expect(header.keyID == nil)
        #expect(header.type == nil)
        #expect(header.otherParameters.isEmpty)
    }

    @Test("gives Xcode's key id and type")
    func xcode() throws {
        let header = try header(#"{"kid":"Apple_Xcode_Key","typ":"JWT","x5c":["AQ=="],"alg":"ES256"}"#)
        #expect(header.keyID == "Apple_Xcode_Key")
        #expect(header.type == "JWT")
        #expect(header.certificates == [[1]])
    }

    @Test("names the parameters that change a signature's meaning")
    func others() throws {
        let header = try header(#"{"alg":"none","crit":["b64"],"b64":false,"zip":"DEF","jwk":{},"jku":"x"}"#)
        #expect(header.algorithm == "none")
        #expect(header.certificates == nil)
        #expect(header.otherParameters == ["crit", "b64", "zip", "jwk", "jku"])
    }

    static let bad: [(text: String, fault: FormatFault)] = [
        ("[]", .wrongType(field: "object")), (#"{"alg":1}"#, .wrongType(field: "alg")),
        (#"{"x5c":"AQID"}"#, .wrongType(field: "x5c")), (#"{"x5c":[1]}"#, .wrongType(field: "x5c")),
        (#"{"x5c":["AQ"]}"#, .invalidValue(field: "x5c")), (#"{"x5c":["AQI-"]}"#, .invalidValue(field: "x5c")),
        (#"{"x5c":["AQ\n=="]}"#, .invalidValue(field: "x5c")),
        (#"{"x5c":["","","","","","","","",""]}"#, .invalidValue(field: "x5c")),
        (#"{"alg":"ES256","alg":"none"}"#, .invalidJSON(JSONFault(.duplicateKey, at: 16))),
        (#"{"alg":"ES256"}x"#, .invalidJSON(JSONFault(.trailingBytes, at: 15))),
    ]

    @Test("is refused", arguments: bad)
    func refused(text: String, fault: FormatFault) {
        #expect(throws: fault) { try header(text) }
    }
}
