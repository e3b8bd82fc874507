import Crypto
import Encoding
import HTTP
import PurchaseModel

/// Who calls.
struct Merchant: Sendable {
    let app: StoreApp
}

/// Why a token lets nobody in.
enum TokenFault: Error, Equatable, Sendable {
    case bad
    /// It is good, but for an app that the store does not have.
    case foreignApp
}

extension ServerAPI {
    /// The app that the request's token speaks for.
    func authorize(_ request: HTTPRequest) throws(TokenFault) -> Merchant {
        guard let token = MerchantToken(request.fields.single("Authorization")) else { throw .bad }
        let (apps, now) = simulator.read { store in (store.apps, store.now) }
        let virtual = now.advanced(by: simulator.clockSkew)
        // Clients date their tokens by their own clocks: the real one, or the store's.
        guard token.isCurrent(at: virtual) || token.isCurrent(at: simulator.wallTime) else { throw .bad }
        if let app = BundleID(token.bundleID).flatMap({ apps[$0] }) {
            guard token.isGood(for: app) else { throw .bad }
            return Merchant(app: app)
        }
        guard apps.values.contains(where: token.isGood) else { throw .bad }
        throw .foreignApp
    }
}

/// The JWT by which a merchant's server calls. Source: Apple, *Generating JSON Web Tokens for API requests*.
struct MerchantToken: Sendable {
    /// In seconds; Apple refuses what lives longer.
    static let lifetimeMax: Int64 = 3_600
    /// How far a client's clock may run ahead, in seconds. Apple names no figure.
    static let skewMax: Int64 = 60

    let bundleID: String
    private let keyID: String
    private let issuer: String
    /// Apple's Python library leaves it out.
    private let issuedAt: Int64?
    private let expiresAt: Int64
    private let signedBytes: [UInt8]
    private let signature: [UInt8]

    /// Reads `Bearer <token>`; `nil` for anything that is no token for this API. The signature is still to be checked.
    init?(_ field: String?) {
        guard let field else { return nil }
        let scheme = Array("bearer ".utf8)
        let bytes = Array(field.utf8)
        guard bytes.count > scheme.count, zip(scheme, bytes).allSatisfy({ $0 == $1 | 0x20 }) else { return nil }
        let parts = bytes.dropFirst(scheme.count)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Self.decode(parts[2])
        else { return nil }
        guard header["alg"]?.says("ES256") ?? false, header["typ"]?.says("JWT") ?? true,
            let keyID = header["kid"]?.string, claims["aud"]?.says("appstoreconnect-v1") ?? false,
            let issuer = claims["iss"]?.string, let bundleID = claims["bid"]?.string,
            let expiresAt = claims["exp"]?.milliseconds
        else { return nil }
        if let value = claims["iat"] {
            guard let number = value.milliseconds else { return nil }
            issuedAt = number
        } else {
            issuedAt = nil
        }
        self.bundleID = bundleID
        self.keyID = keyID
        self.issuer = issuer
        self.expiresAt = expiresAt
        self.signature = signature
        signedBytes = Array(bytes[parts[0].startIndex..<parts[1].endIndex])
    }

    /// Whether the token counts at this moment, and was not made to last longer than Apple allows.
    func isCurrent(at now: Timestamp) -> Bool {
        let seconds = now.milliseconds / 1_000
        let begin = issuedAt ?? seconds
        let (lifetime, overflow) = expiresAt.subtractingReportingOverflow(begin)
        guard !overflow, (0...Self.lifetimeMax).contains(lifetime) else { return false }
        return seconds < expiresAt && begin <= seconds + Self.skewMax
    }

    /// Whether one of the app's keys made it, in the name of its team.
    func isGood(for app: StoreApp) -> Bool {
        guard let key = app.apiKeys[keyID], issuer.utf8.elementsEqual(app.issuerID.utf8) else { return false }
        return key.isValidES256(signature: signature, message: signedBytes)
    }

    private static func object(_ segment: ArraySlice<UInt8>) -> JSONObject? {
        guard let bytes = decode(segment) else { return nil }
        return try? JSONDocument(bytes).root.object
    }

    private static func decode(_ segment: ArraySlice<UInt8>) -> [UInt8]? {
        try? Base64.decode(segment, .url, padding: .forbidden)
    }
}
