package import Crypto
package import PurchaseModel

/// Signs what the store says in StoreKit 2's words, in the name of its authority.
package struct StoreSigner: Sendable {
    private let prepared: PreparedSigner

    package init(_ authority: SimulatorAuthority) throws(CryptoError) {
        prepared = try PreparedSigner(authority.chain(.jws))
    }

    /// JWSTransaction.
    package func transaction(
        _ sold: SoldTransaction,
        of app: StoreApp,
        at moment: Timestamp
    ) throws(CryptoError) -> String {
        try sign(.transaction(sold, of: app, signedAt: moment))
    }

    package func sign(_ payload: Payload) throws(CryptoError) -> String {
        try prepared.sign(payload)
    }
}
