import API
import Crypto
import Encoding
import Foundation
import PurchaseModel
import Simulator

/// `assay demo`: everything that a first try needs, in one folder, and then the server over it.
///
/// A test authority of Apple's shape signs one sample purchase. Its root stands in the configuration, so what it signs
/// is recorded as test-signed; a receipt that Apple signed gets its honest verdict beside it.
struct Demo {
    enum Fault: Error, CustomStringConvertible {
        case cannotWrite(String)
        case cannotSign(CryptoError)

        var description: String {
            switch self {
            case .cannotWrite(let path): "\(path) cannot be written"
            case .cannotSign(let error): "the test authority cannot sign: \(error)"
            }
        }
    }

    let folder: String

    private static let bundleID = "com.example.demo"
    private static let product = "com.example.demo.coins.100"

    var configurationPath: String { "\(folder)/assay.json" }
    var keyPath: String { "\(folder)/key" }
    var samplePath: String { "\(folder)/purchase.json" }

    /// Makes what is not there yet; a second start finds everything and changes nothing.
    func prepare(at now: Timestamp) throws(Fault) {
        guard !FileManager.default.fileExists(atPath: configurationPath) else { return }
        let authority = SimulatorAuthority(
            validity: AuthorityValidity(
                now.advanced(by: .seconds(-86_400))...now.advanced(by: .seconds(10 * 31_536_000))
            )
        )
        let (roots, sample): ([[UInt8]], String)
        do throws(CryptoError) {
            roots = try authority.roots()
            sample = try Demo.sample(authority, at: now)
        } catch {
            throw .cannotSign(error)
        }
        try write(roots, sample, Hexadecimal.encode(SecureRandom.bytes(24)))
    }

    private func write(_ roots: [[UInt8]], _ sample: String, _ key: String) throws(Fault) {
        try makeFolder(folder)
        try makeFolder("\(folder)/roots")
        for (index, root) in roots.enumerated() { try write(root, "\(folder)/roots/simulated-\(index + 1).der") }
        try write(Array(key.utf8), keyPath, isSecret: true)
        try write(
            JSONWriter.object { json in
                json.member("proof", sample)
                json.member("customer_id", "customer-1")
            },
            samplePath
        )
        // Last, because its presence says that all is there.
        try write(configuration(), configurationPath)
    }

    private func configuration() -> [UInt8] {
        JSONWriter.object { json in
            json.member("data", "\(folder)/ledger")
            json.array("apps") { json in
                json.object { json in
                    json.member("id", "demo")
                    json.member("bundle_id", Demo.bundleID)
                    json.array("environments") { json in
                        json.element("production")
                        json.element("sandbox")
                    }
                    json.member("accept_test_signed", true)
                }
            }
            json.array("keys") { json in
                json.object { json in
                    json.member("name", "demo")
                    json.member("app", "demo")
                    json.member("secret_file", keyPath)
                }
            }
            json.object("trust") { $0.member("roots", "\(folder)/roots") }
        }
    }

    private static func sample(_ authority: SimulatorAuthority, at now: Timestamp) throws(CryptoError) -> String {
        guard let bundleID = BundleID(bundleID), let product = ProductID(product),
            let id = TransactionID(number: 2_000_000_000_000_000 + now.milliseconds % 1_000_000_000_000)
        else { preconditionFailure("the demo's own names are ids") }
        let app = SimulatedApp(bundleID: bundleID, appleID: 1, environment: .sandbox)
        var transaction = Transaction(
            id: id,
            originalID: id,
            product: product,
            kind: .consumable,
            purchasedAt: now,
            signedAt: now
        )
        transaction.originallyPurchasedAt = now
        transaction.ownership = .purchased
        transaction.price = Price(milliunits: 990, currency: "USD")
        transaction.storefront = "USA"
        return try PurchaseSigner(authority, app: app).transaction(transaction)
    }

    private func makeFolder(_ path: String) throws(Fault) {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .cannotWrite(path)
        }
    }

    private func write(_ bytes: [UInt8], _ path: String, isSecret: Bool = false) throws(Fault) {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: isSecret ? 0o600 : 0o644]
        guard FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: attributes) else {
            throw .cannotWrite(path)
        }
    }

    /// What to try, in commands that can be pasted.
    func greeting(port: UInt16) -> String {
        """

        Assay serves on http://127.0.0.1:\(port), with its ledger in \(folder)/ledger.
        A purchase that the built-in test authority signed is in \(samplePath). In another terminal:

          curl -s -H "Authorization: Bearer $(cat \(keyPath))" -H "Content-Type: application/json" \\
               --data @\(samplePath) http://127.0.0.1:\(port)/v1/purchases

        Send it again: it is recorded once. See what the customer has, and what was counted:

          curl -s -H "Authorization: Bearer $(cat \(keyPath))" http://127.0.0.1:\(port)/v1/customers/customer-1/transactions
          curl -s http://127.0.0.1:\(port)/metrics

        Ctrl-C stops it.

        """
    }
}
