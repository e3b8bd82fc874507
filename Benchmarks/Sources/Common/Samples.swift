import Crypto
import PurchaseModel
import Simulator
import Verification

/// What is measured with: purchases of one app, signed by an authority of exactly Apple's shape.
struct Samples: Sendable {
    static let bundleID = BundleID(checked: "com.example.space-quest")
    static let appleID: Int64 = 1_234_567_890
    /// 2025-06-15T12:00:00Z.
    static let moment = Timestamp(seconds: 1_749_988_800)

    let authority: SimulatorAuthority
    let signer: PurchaseSigner
    /// As many as a server has in its caches at once, and no two alike.
    let tokens: [[UInt8]]

    init(tokensCount: Int) throws(CryptoError) {
        // Good from 2020 to 2040.
        authority = SimulatorAuthority(
            validity: AuthorityValidity(Timestamp(seconds: 1_577_836_800)...Timestamp(seconds: 2_208_988_800))
        )
        signer = PurchaseSigner(
            authority,
            app: SimulatedApp(bundleID: Samples.bundleID, appleID: Samples.appleID, environment: .production)
        )
        var tokens: [[UInt8]] = []
        for number in 0..<tokensCount { tokens.append(Array(try signer.transaction(Samples.renewal(number)).utf8)) }
        self.tokens = tokens
    }

    /// A verifier that trusts the authority.
    func verifier() throws(CryptoError) -> Verifier {
        var anchors = try TrustAnchors.apple()
        for root in try authority.roots() { anchors.addRoot(try Certificate(der: root)) }
        return Verifier(anchors: anchors)
    }

    /// What a server expects of a proof for this app.
    static let expectation = Expectation(
        bundleID: bundleID,
        appleID: appleID,
        environments: [.production],
        refusesEarly: true
    )

    func receipt(purchases: Int) throws(CryptoError) -> [UInt8] {
        try signer.receipt((0..<purchases).map(Samples.renewal), createdAt: Samples.moment, digest: .sha256)
    }

    /// A subscription's renewal, with all that Apple says about one. Its number lies anywhere, as Apple's do.
    static func renewal(_ number: Int) -> Transaction {
        let first = scattered(number, 0)
        return Transaction(
            id: scattered(number, 1),
            originalID: first,
            product: ProductID(checked: "com.example.space-quest.premium.monthly"),
            kind: .autoRenewable,
            purchasedAt: moment.advanced(by: .seconds(-number)),
            originallyPurchasedAt: moment.advanced(by: .seconds(-40_000_000)),
            expiresAt: moment.advanced(by: .seconds(2_592_000 - number)),
            ownership: .purchased,
            accountToken: AccountToken(high: 0x4E5F_6071_8293_4455, low: UInt64(number) &* 0x9E37_79B9_7F4A_7C15),
            offer: Offer(
                kind: .introductory,
                identifier: "com.example.space-quest.spring",
                discount: "PAY_AS_YOU_GO",
                period: "P1M"
            ),
            price: Price(milliunits: 9_990, currency: "USD"),
            storefront: "USA",
            subscriptionGroup: "21234567",
            webOrderLineItem: "2000000087654321",
            appTransaction: "704289572311513293",
            signedAt: moment.advanced(by: .seconds(60))
        )
    }

    /// Sixteen digits that begin as Apple's do and say nothing of their order.
    static func scattered(_ number: Int, _ salt: UInt64) -> TransactionID {
        var mixed = (UInt64(number) &* 2 &+ salt) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        guard let id = TransactionID(number: 2_000_000_000_000_000 + Int64(mixed % 999_999_999_999_989)) else {
            preconditionFailure("a number above zero is an id")
        }
        return id
    }
}
