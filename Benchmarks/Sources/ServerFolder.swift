import Encoding
import Foundation
import PurchaseModel
import Simulator

/// A folder with all that a server under measurement needs, for one run.
struct ServerFolder {
    static let key = "benchmark-benchmark-benchmark-32"

    private let path: String
    /// Where `assay` was built.
    private let products: String

    /// Makes the folder.
    init(path: String, products: String) throws {
        self.path = path
        self.products = products
        try FileManager.default.createDirectory(atPath: path + "/roots", withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// With an empty ledger.
    func startAssay(trusting authority: SimulatorAuthority) throws -> ServedProcess {
        try? FileManager.default.removeItem(atPath: path + "/ledger")
        for (index, root) in try authority.roots().enumerated() {
            try write("roots/\(index).der", root)
        }
        try write("key", Array(ServerFolder.key.utf8))
        try write("assay.json", configuration)
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

    private var configuration: [UInt8] {
        JSONWriter.object { json in
            json.member("profile", "development")
            json.member("data", path + "/ledger")
            json.array("apps") { json in
                json.object { json in
                    json.member("id", "game")
                    json.member("bundle_id", Samples.bundleID.text)
                    json.member("apple_id", Samples.appleID)
                    json.member("accept_test_signed", true)
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
