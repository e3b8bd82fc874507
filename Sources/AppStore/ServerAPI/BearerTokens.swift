import Crypto
import Encoding
import PurchaseModel
import Synchronization

/// The JWTs by which an app's server calls, each used until shortly before it ends.
///
/// Source: Apple, *Generating JSON Web Tokens for API requests*; RFC 7515, RFC 7519.
final class BearerTokens: Sendable {
    private struct State {
        var token: (text: String, endsAt: Timestamp)?
        /// What Apple's clock shows beyond ours.
        var skew = Duration.zero
    }

    /// Apple refuses what lives longer than an hour.
    static let lifetime = Duration.seconds(900)
    /// What is left of a token's life when the next is made: longer than any call takes.
    static let margin = Duration.seconds(120)
    /// Tokens are dated back by this, since Apple refuses those from the future.
    static let back = Duration.seconds(30)
    /// A smaller difference is the network's, or that of whole seconds.
    static let skewLeast = Duration.seconds(10)

    private let bundleID: BundleID
    private let key: ServerAPIKey
    private let state = Mutex(State())

    init(_ bundleID: BundleID, _ key: ServerAPIKey) {
        self.bundleID = bundleID
        self.key = key
    }

    var skew: Duration { state.withLock(\.skew) }

    func token(at now: Timestamp) throws(AppStoreFailure) -> String {
        let known = state.withLock { state -> (text: String?, now: Timestamp) in
            let theirs = now.advanced(by: state.skew)
            guard let token = state.token, theirs.advanced(by: BearerTokens.margin) < token.endsAt,
                // A clock that was set back must not keep a token from the future.
                theirs.advanced(by: BearerTokens.lifetime) >= token.endsAt
            else { return (nil, theirs) }
            return (token.text, theirs)
        }
        if let text = known.text { return text }
        let issuedAt = known.now.advanced(by: .zero - BearerTokens.back)
        let endsAt = issuedAt.advanced(by: BearerTokens.lifetime)
        let text = try sign(issuedAt, endsAt)
        state.withLock { $0.token = (text, endsAt) }
        return text
    }

    /// Compares our clock with Apple's after a 401.
    ///
    /// - Returns: the difference, if it is another than was known: then the same request may do.
    func learn(_ date: Timestamp, at now: Timestamp) -> Duration? {
        let found = now.duration(to: date)
        let skew = found.magnitude < BearerTokens.skewLeast ? .zero : found
        return state.withLock { state in
            guard (skew - state.skew).magnitude >= BearerTokens.skewLeast else { return nil }
            state.skew = skew
            state.token = nil
            return skew
        }
    }

    private func sign(_ issuedAt: Timestamp, _ endsAt: Timestamp) throws(AppStoreFailure) -> String {
        let claims = JSONWriter.object { claims in
            claims.member("iss", key.issuerID)
            claims.member("iat", issuedAt.milliseconds / 1_000)
            claims.member("exp", endsAt.milliseconds / 1_000)
            claims.member("aud", "appstoreconnect-v1")
            claims.member("bid", bundleID.text)
        }
        do throws(CryptoError) {
            return try MerchantJWS.sign(claims, by: key)
        } catch {
            throw .notConfigured
        }
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
