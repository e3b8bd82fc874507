import Testing
import Verification

/// Of a request to verifyReceipt, in which the app's shared secret stands, the receipt alone is a proof.
@Suite struct BareProofTests {
    private static func text(_ kind: ProofKind) throws -> String {
        let proof = try kind.sharedProof()
        return kind.isJWS ? String(decoding: proof, as: UTF8.self) : Sample.base64(proof)
    }

    private static func base64(_ text: String) -> String { Sample.base64(Array(text.utf8)) }

    @Test(arguments: ProofKind.allCases)
    func ofABodyForVerifyReceiptTheReceiptIsLeft(kind: ProofKind) throws {
        let text = try Self.text(kind)
        let body = #"{"receipt-data":"\#(text)","password":"hush","exclude-old-transactions":true}"#
        let escaped = body.replacing("receipt-data", with: "receipt\\u002ddata").replacing("/", with: "\\/")
        let inner = body.replacing("\"", with: "\\\"")
        let bodies = [
            body, " \n" + body, escaped, "\"\(inner)\"", Self.base64(body), Self.base64(Self.base64(body)),
            Self.base64("\n" + body), #"{"password":"hush","receipt-data":"\#(Self.base64(body))"}"#,
            body.replacing("{", with: "%7B").replacing("+", with: "%2B").replacing("/", with: "%2F"),
        ]
        let verifier = try TestVerifier.simulated()
        for body in bodies {
            let bare = BareProof.of(Array(body.utf8))
            #expect(String(decoding: bare, as: UTF8.self) == text, "\(body.prefix(40))")
            #expect(verifier.examine(bare).report.format == verifier.examine(body).report.format)
            #expect(BareProof.of(bare) == bare)
        }
    }

    @Test(arguments: ProofKind.allCases, Wrapping.allCases)
    func anyOtherProofIsAsItCame(kind: ProofKind, wrapping: Wrapping) throws {
        guard let wrapped = wrapping.applied(to: try kind.sharedProof()) else { return }
        #expect(BareProof.of(wrapped) == wrapped)
    }

    @Test(arguments: [
        ("", ""), ("{", "{"), ("MI", "MI"), ("2000000950112345", "2000000950112345"), ("no proof", "no proof"),
        (#"{"status":0,"receipt":{}}"#, #"{"status":0,"receipt":{}}"#),
        (#"{"receipt-data":7,"password":"hush"}"#, #"{"receipt-data":7,"password":"hush"}"#),
        (#"{"receipt-data":"","password":"hush"}"#, ""), (#"{"receipt-data":"x","password":"hush"}"#, "x"),
        (#"{"receipt-data":"123","password":"hush"}"#, "123"),
        (#"{"signedPayload":"e30.e30.AAAA"}"#, #"{"signedPayload":"e30.e30.AAAA"}"#),
    ])
    func whatIsNoReceiptIsLeftAsItIsInside(sent: String, bare: String) {
        #expect(BareProof.of(Array(sent.utf8)) == Array(bare.utf8))
    }
}
