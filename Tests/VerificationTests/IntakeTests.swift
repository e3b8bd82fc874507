import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// What people wrap proofs in changes nothing about them.
@Suite struct IntakeTests {
    @Test(arguments: ProofKind.allCases, Wrapping.allCases)
    func aWrappingChangesNothing(kind: ProofKind, wrapping: Wrapping) throws {
        let proof = try kind.sharedProof()
        let verifier = try TestVerifier.simulated()
        let bare = verifier.examine(proof)
        guard let wrapped = wrapping.applied(to: proof) else { return }
        let examination = verifier.examine(wrapped)
        #expect(examination.reason == .addedRoot)
        #expect(examination.proof?.fact.claims == bare.proof?.fact.claims)
        #expect(examination.report.format == bare.report.format)
        #expect(examination.outcomes(.unwrapping) == (wrapped == proof ? [] : [.passed]) || wrapping.isMereSpace)
    }

    /// Wrapped or not, a forgery is refused for the same reason.
    @Test(arguments: Wrapping.allCases)
    func aWrappingHidesNoForgery(wrapping: Wrapping) throws {
        let chain = try TestAuthority.shared.chain(.receiptSHA256, flaw: .leafWithoutMarker)
        let receipt = try ReceiptSigner(chain, digest: .sha256).sign(Sample.receipt())
        let wrapped = try #require(wrapping.applied(to: receipt))
        #expect(try TestVerifier.simulated().reason(wrapped) == .leafMarkerMissing)
        let cracker = try #require(wrapping.applied(to: Array("com.urus.iap.22290440".utf8)))
        #expect(try TestVerifier.simulated().reason(cracker) == .knownCracker)
    }

    @Test(arguments: ProofKind.allCases)
    func fiveLayersAreTakenOffAndNoSixth(kind: ProofKind) throws {
        var wrapped = try kind.sharedProof()
        // A text in its own right needs no layer to be read.
        for layer in 1...7 {
            wrapped = Base64.encode(wrapped, .standard, isPadded: true)
            let reason = try TestVerifier.simulated().reason(wrapped)
            #expect(reason == (layer <= 5 ? .addedRoot : .unrecognised), "\(layer)")
        }
    }

    /// Line breaks count as part of the layer in which they stand.
    @Test func wrappedLinesAreNoLayersOfTheirOwn() throws {
        var wrapped = try ProofKind.receiptSHA256.sharedProof()
        for _ in 1...5 {
            wrapped = Wrapping.lines(Base64.encode(wrapped, .standard, isPadded: true), 76, [0x0D, 0x0A])
        }
        #expect(try TestVerifier.simulated().reason(wrapped) == .addedRoot)
    }

    /// A form turns each `+` into a space. Whatever number of them a receipt happens to have, it is read.
    @Test func spacesForPlusSignsAreTheRightOnesAgain() throws {
        let verifier = try TestVerifier.simulated()
        for length in 0..<12 {
            let product = ProductID(checked: "com.example." + String(repeating: "x", count: 1 + length))
            let purchases = [Sample.transaction(product: product)]
            let receipt = try TestAuthority.signer().receipt(purchases, createdAt: Sample.moment)
            for isPadded in [true, false] {
                let text = Base64.encode(receipt, .standard, isPadded: isPadded)
                #expect(text.contains(UInt8(ascii: "+")))
                let mangled = text.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
                #expect(verifier.reason(mangled) == .addedRoot)
            }
        }
    }

    @Test(arguments: [
        "receipt-data", "signedPayload", "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo",
    ])
    func theBodiesOfApplesEndpointsAreOpened(member: String) throws {
        for kind in ProofKind.allCases {
            let proof = try kind.sharedProof()
            let text = kind.isJWS ? String(decoding: proof, as: UTF8.self) : Sample.base64(proof)
            let bodies = [
                #"{"\#(member)":"\#(text)"}"#,
                #" { "password" : "x", "\#(member)" : "\#(text)", "n": [1, {"a": null}] }"#,
                #"{"\#(member)":"\#(text.replacing("/", with: "\\/"))","exclude-old-transactions":true}"#,
                #""{\"\#(member)\":\"\#(text)\"}""#,
            ]
            for body in bodies { #expect(try TestVerifier.simulated().reason(body) == .addedRoot) }
        }
    }

    @Test(arguments: [
        ("0", Reason.onlyAnID), ("1000000156444989", .onlyAnID), ("2000000950112345", .onlyAnID), (" 12\n", .onlyAnID),
        ("9223372036854775807", .onlyAnID), ("9223372036854775808", .transactionIDForm), ("01", .transactionIDForm),
        ("00", .transactionIDForm), ("12345678901234567890", .transactionIDForm),
        (String(repeating: "1", count: 40), .transactionIDForm), (String(repeating: "1", count: 41), .unrecognised),
        ("-1", .unrecognised), ("+1", .unrecognised), ("1.0", .unrecognised), ("１２", .unrecognised),
        ("\"2000000950112345\"", .onlyAnID), ("MjAwMDAwMDk1MDExMjM0NQ==", .onlyAnID),
    ])
    func aBareNumberIsAnIDOrNothing(text: String, reason: Reason) throws {
        let examination = try TestVerifier.simulated().examine(text)
        #expect(examination.reason == reason)
        #expect(!examination.isProved)
    }

    /// What the App Store Server API lists of a subscription, and version 2 notifications of their subject, has a status, too.
    @Test func aStatusHidesNothingThatAppleSignedBesideIt() throws {
        let chain = try TestAuthority.shared.chain(Family.jws.signing)
        let token = String(decoding: try Family.jws.proof(by: chain), as: UTF8.self)
        for member in ["status", "appAppleId"] {
            let text = #"{"\#(member)":1,"signedTransactionInfo":"\#(token)"}"#
            #expect(try Family.jws.verifier(of: chain).examine(text).reason == .addedRoot)
        }
    }

    @Test(arguments: [
        (#"{"status":21002}"#, Reason.answerWithoutPurchase), (#"{"status":0}"#, .answerWithoutPurchase),
        (#"{"status":1,"signedTransactionInfo":7}"#, .answerWithoutPurchase),
        (#"{"status":"x"}"#, .answerForm), (#"{"status":0,"status":1}"#, .answerForm), ("{", .answerForm),
        ("{}", .unrecognised), (#"{"receipt-data":7}"#, .unrecognised), (#"{"receipt-data":""}"#, .empty),
        (#"{"receipt-data":null}"#, .unrecognised), (#"{"receipt-data":"{}"}"#, .unrecognised),
        (#"{"notification_type":"DID_RENEW"}"#, .unsignedNotification), (#"{"notification_type":[]}"#, .answerForm),
        (#"{"a":1,}"#, .answerForm), (#"{"a":"\u0000"}"#, .answerForm), (#"{"a":"\ud800"}"#, .answerForm),
        (#"{"in_app":[]}"#, .unrecognised), ("[]", .unrecognised), ("null", .unrecognised), ("\"", .unrecognised),
        ("\"\"", .empty), ("\"\\u0020\"", .empty), ("{ \"a\" = b; }", .signatureBlob), ("{ a = ", .plistForm),
        ("{ \"a\" = ( b ); }", .plistForm),
    ])
    func jsonThatHoldsNoProofIsSaidToHoldNone(text: String, reason: Reason) throws {
        let examination = try TestVerifier.simulated().examine(text)
        #expect(examination.reason == reason)
        #expect(!examination.isProved && examination.isConsistent)
    }
}
