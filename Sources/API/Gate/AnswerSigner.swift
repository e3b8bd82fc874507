package import Crypto
import Encoding
import HTTP
import PurchaseModel

/// Signs answers for clients that ask for it, so that they can tell them from what somebody in between has made up.
///
/// What is signed is the nonce of the client, when it was answered, all that was asked and by which key, the status and the
/// exact body, as it is sent: no answer can be shown again, or to another question, or to another app's.
package struct AnswerSigner: Sendable {
    static let nonceField = "Assay-Nonce"
    private static let nonceBytes = 16...128

    private let key: Ed25519PrivateKey
    let keyID: String

    package init(_ key: Ed25519PrivateKey) {
        self.key = key
        keyID = Hexadecimal.encode(Array(Digest.sha256(key.publicKey.bytes).prefix(8)))
    }

    /// 32 bytes.
    var publicKey: [UInt8] { key.publicKey.bytes }

    /// What is signed of a request.
    struct Question: Sendable {
        fileprivate let nonce: String
        /// What was asked, by which key, and with which body.
        fileprivate let lines: [String]
        fileprivate let isHead: Bool
    }

    /// Of a request as it came: whoever answers it may take its body away.
    ///
    /// - Returns: nil where no signature is wished.
    func question(of request: HTTPRequest) -> Question? {
        guard let nonce = request.fields.single(Self.nonceField), Self.isNonce(nonce) else { return nil }
        let target = request.query.map { request.path + "?" + $0 } ?? request.path
        let authorization = Array((request.fields.single("Authorization") ?? "").utf8)
        return Question(
            nonce: nonce,
            lines: ["\(request.method) \(target)", Self.fingerprint(authorization), Self.fingerprint(request.body)],
            isHead: request.method == .head
        )
    }

    /// The answer, signed; a stream never is, since it has no end that could be signed.
    func sign(_ response: HTTPResponse, to question: Question, at now: Timestamp) -> HTTPResponse {
        guard response.stream == nil else { return response }
        let moment = String(now.milliseconds / 1_000)
        let head = ["assay-answer-v2", question.nonce, moment] + question.lines + ["\(response.status)", ""]
        // Of what HEAD is answered, the fields alone are sent.
        let body = question.isHead ? [] : response.body
        let message = Array(head.joined(separator: "\n").utf8) + body
        guard let signature = try? key.sign(message) else { return response }
        var response = response
        response.fields["Assay-Key-ID"] = keyID
        response.fields["Assay-Signed-At"] = moment
        response.fields["Assay-Signature"] = String(
            decoding: Base64.encode(signature, .standard, isPadded: true),
            as: UTF8.self
        )
        return response
    }

    private static func fingerprint(_ bytes: [UInt8]) -> String {
        Hexadecimal.encode(Digest.sha256(bytes))
    }

    private static func isNonce(_ text: String) -> Bool {
        nonceBytes.contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
