import Crypto
package import PurchaseModel

/// Who may call: bearer keys, known only by their SHA-256, each for one app.
package struct KeyRing: Sendable {
    /// A key's holder, as the configuration names it.
    package struct Holder: Hashable, Sendable {
        package let name: String
        package let app: AppID

        package init(name: String, app: AppID) {
            self.name = name
            self.app = app
        }
    }

    /// The longest key that is looked at, in bytes: far beyond any that we accept in the configuration.
    static let bytesMax = 512

    private let holders: [[UInt8]: Holder]

    /// - Parameter holders: by the 32 bytes of each key's SHA-256.
    package init(_ holders: [[UInt8]: Holder]) {
        self.holders = holders
    }

    /// The holder of the key in an `Authorization` field. The look-up is by hash, so its time tells nothing of a key.
    func holder(authorization: String?) -> Holder? {
        guard let authorization else { return nil }
        let bytes = Array(authorization.utf8)
        let scheme = Array("bearer ".utf8)
        guard bytes.count > scheme.count, bytes.count <= KeyRing.bytesMax,
            bytes.prefix(scheme.count).map({ $0 | 0x20 }) == scheme
        else { return nil }
        return holders[Digest.sha256(Array(bytes.dropFirst(scheme.count)))]
    }
}
