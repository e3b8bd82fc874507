import Crypto
import Encoding
import Foundation
import PurchaseModel
import Simulator

/// A folder with all that a server under measurement needs, for one run.
struct ServerFolder {
    static let key = "benchmark-benchmark-benchmark-32"
    /// Of a browser that is signed in: 32 bytes in base64.
    static let sessionToken = String(repeating: "A", count: 43)

    private let path: String
    /// Where `assay` was built.
    private let products: String

    /// As the ledger knows the browser.
    static func digest(of token: String) -> [UInt8] { Digest.sha256(Array(token.utf8)) }

    /// Makes the folder.
    init(path: String, products: String) throws {
        self.path = path
        self.products = products
        try FileManager.default.createDirectory(atPath: path + "/roots", withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Where the next server's ledger is to be made.
    func emptyLedger() -> String {
        try? FileManager.default.removeItem(atPath: path + "/ledger")
        return path + "/ledger"
    }

    /// With an empty ledger, unless one was put there; it trusts the authority, and asks what listens on a port in Apple's place, or nobody.
    func startAssay(
        trusting authority: SimulatorAuthority,
        asking apple: UInt16? = nil,
        giving entitlement: String? = nil,
        isEmpty: Bool = true
    ) throws -> ServedProcess {
        if isEmpty { _ = emptyLedger() }
        for (index, root) in try authority.roots().enumerated() {
            try write("roots/\(index).der", root)
        }
        try write("key", Array(ServerFolder.key.utf8))
        if apple != nil { try write("apple.p8", try PrivateKey(generate: .p256).pem()) }
        try write("assay.json", configuration(asking: apple, giving: entitlement))
        return try ServedProcess(
            "assay",
            products + "/assay",
            ["serve", "--config", path + "/assay.json", "--listen", "127.0.0.1:0"],
            beforePort: "\"port\":",
            log: path + "/assay.log"
        )
    }

    /// After Assay, whose root it trusts as well.
    func startPeer() throws -> ServedProcess {
        try ServedProcess(
            "peer",
            "Benchmarks/peers/serve.sh",
            [path + "/roots/0.der", Samples.bundleID.text, "\(Samples.appleID)"],
            beforePort: "running on http://127.0.0.1:",
            log: path + "/peer.log"
        )
    }

    private func configuration(asking apple: UInt16?, giving entitlement: String?) -> [UInt8] {
        JSONWriter.object { json in
            json.member("profile", "development")
            json.member("data", path + "/ledger")
            json.array("apps") { json in
                json.object { json in
                    json.member("id", "game")
                    json.member("bundle_id", Samples.bundleID.text)
                    json.member("apple_id", Samples.appleID)
                    json.member("accept_test_signed", true)
                    if let entitlement { catalogue(giving: entitlement, into: &json) }
                    if let apple { appStore(at: "http://127.0.0.1:\(apple)", into: &json) }
                }
            }
            json.array("keys") { json in
                json.object { json in
                    json.member("name", "benchmark")
                    json.member("app", "game")
                    json.member("secret_file", path + "/key")
                }
            }
            json.object("trust") { $0.member("roots", path + "/roots") }
        }
    }

    private func catalogue(giving entitlement: String, into json: inout JSONObjectWriter) {
        json.array("products") { json in
            json.object { json in
                json.member("id", Samples.renewal(0).product.text)
                json.member("kind", "auto_renewable_subscription")
                json.array("goods") { json in json.object { $0.member("entitlement", entitlement) } }
            }
        }
    }

    private func appStore(at base: String, into json: inout JSONObjectWriter) {
        json.object("app_store") { json in
            json.member("issuer_id", "57246542-96fe-1a63-e053-0824d011072a")
            json.member("key_id", "2X9R4HXF34")
            json.member("private_key_file", path + "/apple.p8")
            json.object("hosts") { json in
                for host in ["api", "api_sandbox", "verify_receipt", "verify_receipt_sandbox"] {
                    json.member(host, base)
                }
            }
        }
    }

    /// Readable to its owner alone, as a key must be.
    ///
    /// - Returns: the file's path.
    @discardableResult
    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = path + "/" + name
        let attributes = [FileAttributeKey.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: file, contents: Data(bytes), attributes: attributes) else {
            throw BenchmarkFailure("\(file) cannot be written")
        }
        return file
    }
}
