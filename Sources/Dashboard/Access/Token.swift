import Crypto
import Encoding

/// 256 random bits that only one browser holds. What is kept of it is its SHA-256.
package struct Token: Sendable, Equatable {
    private static let length = 32

    /// Base64 for URLs, 43 characters.
    package let text: String

    package init() {
        text = String(
            decoding: Base64.encode(SecureRandom.bytes(Self.length), .url, isPadded: false),
            as: UTF8.self
        )
    }

    /// One that came back; `nil` when it cannot be one of ours.
    init?(_ text: some Collection<UInt8>) {
        guard text.count == 43,
            (try? Base64.decode(Array(text), .url, padding: .forbidden))?.count == Self.length
        else { return nil }
        self.text = String(decoding: text, as: UTF8.self)
    }

    /// 32 bytes.
    package var digest: [UInt8] { Digest.sha256(Array(text.utf8)) }

    /// What every form that goes to this browser carries: who does not know the cookie cannot make it.
    package var formToken: String {
        let mac = MessageAuthentication.hmacSHA256(key: Array(text.utf8), message: Array("form".utf8))
        return String(decoding: Base64.encode(mac, .url, isPadded: false), as: UTF8.self)
    }

    func vouches(for form: String) -> Bool {
        MessageAuthentication.areEqual(Array(formToken.utf8), Array(form.utf8))
    }
}
