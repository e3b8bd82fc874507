import Crypto
import Encoding
import Foundation
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// A folder with all that a server needs: a configuration of two apps, their keys, and the test authority's roots.
struct ServerFolder: Sendable {
    static let key = "sk_test_0123456789abcdef0123456789abcdef"
    static let otherKey = "sk_test_fedcba9876543210fedcba9876543210"

    let path: String

    var data: String { path + "/ledger" }
    var configuration: String { path + "/assay.json" }
    var roots: String { path + "/roots" }

    init(_ path: String) throws {
        self.path = path
        try Self.makeRoots(in: path + "/roots")
        try Self.write(Array(Self.key.utf8), path + "/key", isSecret: true)
        try Self.write(Array(Self.otherKey.utf8), path + "/other-key", isSecret: true)
        try Self.write(
            JSONWriter.object { json in
                json.member("profile", "development")
                json.member("listen", "127.0.0.1:0")
                json.member("data", data)
                json.array("apps") { json in
                    for (id, bundleID) in [("demo", TestAuthority.bundleID.text), ("other", "com.example.other")] {
                        json.object { json in
                            json.member("id", id)
                            json.member("bundle_id", bundleID)
                            json.array("environments") { $0.element("sandbox") }
                            json.member("accept_test_signed", true)
                        }
                    }
                }
                json.array("keys") { json in
                    for (name, app, file) in [("shop", "demo", "key"), ("second", "other", "other-key")] {
                        json.object { json in
                            json.member("name", name)
                            json.member("app", app)
                            json.member("secret_file", "\(path)/\(file)")
                        }
                    }
                }
                json.object("trust") { $0.member("roots", roots) }
            },
            configuration
        )
    }

    static func with<Value>(_ body: (ServerFolder) async throws -> Value) async throws -> Value {
        try await TemporaryFolder.with { try await body(ServerFolder($0)) }
    }

    /// Starts a server over it, with further flags.
    func serve(_ flags: String..., under wrapper: [String] = [], readsLog: Bool = true) async throws -> ServerProcess {
        try await serve(flags, under: wrapper, readsLog: readsLog)
    }

    func serve(_ flags: [String], under wrapper: [String] = [], readsLog: Bool = true) async throws -> ServerProcess {
        try await ServerProcess(
            ["serve", "--config", configuration] + flags,
            under: wrapper,
            readsLog: readsLog
        )
    }

    /// Gives the app `demo` a key of App Store Connect; Apple is away.
    func addAppleKey() throws {
        try Self.write(try PrivateKey(generate: .p256).pem(), path + "/p8", isSecret: true)
        let store = """
            "app_store":{"issuer_id":"57246542-96fe-1a63-e053-0824d011072a","key_id":"2X9R4HXF34",\
            "private_key_file":"\(path)/p8",\
            "hosts":{"api":"http://127.0.0.1:1","api_sandbox":"http://127.0.0.1:1"}}
            """
        let text = String(decoding: try Data(contentsOf: URL(filePath: configuration)), as: UTF8.self)
        let changed = text.replacing("\"id\":\"demo\"", with: "\"id\":\"demo\",\(store)")
        #expect(changed != text)
        try Self.write(Array(changed.utf8), configuration)
    }

    static func makeRoots(in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for (index, root) in try TestAuthority.shared.roots().enumerated() {
            try write(root, "\(folder)/\(index).der")
        }
    }

    static func write(_ bytes: [UInt8], _ path: String, isSecret: Bool = false) throws {
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes(
            [.posixPermissions: isSecret ? 0o600 : 0o644],
            ofItemAtPath: path
        )
    }
}

/// Purchases that the shared authority signs.
enum Purchase {
    static func transaction(_ number: Int64, product: String = "coins") throws -> Transaction {
        let id = try #require(TransactionID(number: 2_000_000_000_000_000 + number))
        var transaction = Transaction(
            id: id,
            originalID: id,
            product: try #require(ProductID(product)),
            kind: .consumable,
            purchasedAt: TestAuthority.moment,
            signedAt: TestAuthority.moment
        )
        transaction.originallyPurchasedAt = TestAuthority.moment
        transaction.ownership = .purchased
        return transaction
    }

    static func jws(_ number: Int64, product: String = "coins") throws -> String {
        try jws(transaction(number, product: product))
    }

    static func jws(_ transaction: Transaction) throws -> String { try TestAuthority.signer().transaction(transaction) }

    /// The body that presents a proof.
    static func body(_ proof: String, customer: String = "customer-1") -> [UInt8] {
        JSONWriter.object { json in
            json.member("proof", proof)
            json.member("customer_id", customer)
        }
    }
}
