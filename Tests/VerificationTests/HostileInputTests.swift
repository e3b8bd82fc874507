import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// Junk of every kind: refused, quickly, and without a trap.
@Suite struct HostileInputTests {
    private static func many(_ text: String, _ count: Int = 1 << 16) -> [UInt8] {
        repeated(Array(text.utf8), count / text.utf8.count)
    }

    private static func repeated(_ part: [UInt8], _ times: Int) -> [UInt8] {
        Array(repeatElement(part, count: times).joined())
    }

    private static let junk: [(name: String, bytes: [UInt8], reason: Reason)] = [
        ("nothing", [], .empty), ("a space", [0x20], .empty), ("spaces", many(" "), .empty),
        ("line ends", many("\r\n"), .empty), ("NUL", [0], .unrecognised), ("NULs", many("\0", 4_096), .unrecognised),
        ("a byte order mark", [0xEF, 0xBB, 0xBF], .unrecognised),
        ("a marked object", [0xEF, 0xBB, 0xBF] + Array("{}".utf8), .unrecognised),
        ("UTF-16", [0xFE, 0xFF, 0, 0x65, 0, 0x79], .unrecognised), ("one byte", [0x31], .onlyAnID),
        ("two bytes", [0x30, 0x80], .truncated), ("a bare length", [0x30, 0x84], .truncated),
        ("a huge length", [0x30, 0x88] + [UInt8](repeating: 0xFF, count: 8), .truncated),
        ("a length of 127 octets", [0x30, 0xFF], .cmsForm), ("an empty sequence", [0x30, 0x81, 0x00], .truncated),
        ("HTML", Array("<!DOCTYPE html><html><body>Service unavailable</body></html>".utf8), .unrecognised),
        ("a word", Array("receipt".utf8), .unrecognised), ("braces", many("{"), .answerForm),
        ("brackets", many("["), .unrecognised), ("an object in objects", many("{\"a\":"), .answerForm),
        ("quotation marks", many("\""), .unrecognised), ("backslashes", many("\\"), .unrecognised),
        ("percent signs", many("%"), .unrecognised), ("dots", many("."), .unrecognised),
        ("dots after a beginning", Array("ey".utf8) + many("."), .jwsForm), ("ey", Array("ey".utf8), .unrecognised),
        ("ey and a dot", Array("ey.".utf8), .jwsForm), ("three dots", Array("eyJ.eyJ.x.y".utf8), .jwsForm),
        ("equal signs", many("="), .unrecognised), ("letters", many("A"), .unrecognised),
        ("a sea of sequences", many("0\u{0}", 4_096), .unrecognised),
        ("a plist without end", Array("{ a = b;".utf8) + many(" "), .plistForm),
        ("a plist of comments", Array("{ a = b; ".utf8) + many("/**/"), .plistForm),
        ("a long plist key", Array("{ \"".utf8) + many("a") + Array("\" = b; }".utf8), .answerForm),
    ]

    @Test func junkIsRefusedForWhatItIs() throws {
        let verifier = try TestVerifier.simulated()
        for (name, bytes, reason) in Self.junk {
            for refusesEarly in [false, true] {
                let examination = verifier.examine(bytes, expecting: Expected(refusesEarly: refusesEarly))
                #expect(examination.reason == reason, "\(name)")
                #expect(!examination.isProved && examination.isConsistent)
            }
        }
    }

    @Test func aMebibyteOfJunkIsRefused() throws {
        let verifier = try TestVerifier.simulated()
        var random = SeededRandom(seed: 1)
        #expect(verifier.reason(random.bytes(1 << 20)) == .unrecognised)
        #expect(verifier.reason(Self.many("{", 1 << 20)) == .answerForm)
        #expect(verifier.reason(Self.many(" ", 1 << 20)) == .empty)
    }

    @Test(arguments: UInt64(0)..<20)
    func randomBytesAreNoProof(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let count = 1 << Int.random(in: 0...16, using: &random)
        var bytes = random.bytes(count)
        let verifier = try TestVerifier.simulated()
        for beginning: [UInt8] in [[], [0x30, 0x80], [0x30, 0x82, 0x10, 0x00], Array("{ ".utf8), Array("eyJ".utf8)] {
            bytes.replaceSubrange(0..<min(beginning.count, bytes.count), with: beginning.prefix(bytes.count))
            #expect(!verifier.examine(bytes).isProved)
            let wrapped = Base64.encode(Base64.encode(bytes, .standard, isPadded: true), .url, isPadded: false)
            #expect(!verifier.examine(wrapped).isProved)
        }
    }

    @Test func nestingWithoutEndEndsAtALimit() throws {
        let verifier = try TestVerifier.simulated()
        let depth = 10_000
        let arrays =
            [UInt8](repeating: UInt8(ascii: "["), count: depth)
            + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
        #expect(verifier.reason(Array(#"{"a":"#.utf8) + arrays + Array("}".utf8)) == .answerForm)
        #expect(verifier.reason(Self.repeated([0x30, 0x80], depth)) == .cmsForm)
        #expect(verifier.reason([0x30, 0x80] + Self.repeated([0x24, 0x80], depth)) == .cmsForm)
        // A payload that is rightly signed may not nest either.
        let signer = JWSSigner(try TestAuthority.shared.chain(.jws))
        let token = try signer.sign(json: Array(#"{"transactionId":"1","productId":"a","x":"#.utf8) + arrays + [0x7D])
        #expect(verifier.reason(token) == .jwsPayload)
    }

    @Test func whatIsTooLongIsNotLookedAt() throws {
        let verifier = Verifier(anchors: try TestVerifier.simulatedAnchors(), bytesMax: 64)
        let examination = verifier.examine([UInt8](repeating: 0x30, count: 65))
        #expect(examination.reason == .tooLarge)
        #expect(examination.report.format == .unknown)
        #expect(verifier.reason([UInt8](repeating: UInt8(ascii: "1"), count: 16)) == .onlyAnID)
    }

    /// Every beginning of a proof is refused or, at its very end, believed.
    @Test(arguments: ProofKind.allCases)
    func aProofThatWasCutOffIsNone(kind: ProofKind) throws {
        let proof = try kind.sharedProof()
        let verifier = try TestVerifier.simulated()
        var random = SeededRandom(seed: 5)
        for _ in 0..<60 {
            let count = Int.random(in: 0..<proof.count, using: &random)
            let examination = verifier.examine(proof.prefix(count))
            #expect(!examination.isProved && examination.isConsistent, "\(count)")
            let text = Base64.encode(proof, .standard, isPadded: true)
            let cut = verifier.examine(text.prefix(Int.random(in: 0..<text.count - 4, using: &random)))
            #expect(!cut.isProved && cut.isConsistent)
            if kind.isReceipt, count > 200 { #expect(examination.reason == .truncated) }
        }
    }
}
