import Crypto
import Foundation

/// The certificates of Apple's that are part of the product.
enum BuiltIn {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/Verification/Chain/Roots")

    /// Their names, without `.der`.
    static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".der") }
            .map { String($0.dropLast(4)) }.sorted()
    }

    static func certificate(_ name: String) throws -> Certificate {
        let file = folder.appendingPathComponent(name + ".der")
        return try Certificate(der: [UInt8](Data(contentsOf: file)))
    }
}
