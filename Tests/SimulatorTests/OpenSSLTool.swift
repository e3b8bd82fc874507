import Crypto
import Encoding
import Foundation

/// The `openssl` program as an independent reader of what the simulator signs.
struct OpenSSLTool {
    struct Answer {
        var isSuccess: Bool
        /// What it wrote, both channels.
        var text: String
    }

    private let folder: URL

    /// Makes a folder of its own for the files.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Takes the files away again.
    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Writes a file for the next call and gives its path.
    func write(_ bytes: [UInt8], as name: String) throws -> String {
        let file = folder.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return file.path
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    /// A certificate as PEM.
    func writePEM(_ der: [UInt8], as name: String) throws -> String {
        let text = Base64.encode(der, .standard, isPadded: true)
        var lines = "-----BEGIN CERTIFICATE-----\n"
        for start in stride(from: 0, to: text.count, by: 64) {
            lines += String(decoding: text[start..<min(start + 64, text.count)], as: UTF8.self) + "\n"
        }
        return try write(Array((lines + "-----END CERTIFICATE-----\n").utf8), as: name)
    }

    func run(_ arguments: [String]) throws -> Answer {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let output = path("output-" + UUID().uuidString)
        try Data().write(to: URL(fileURLWithPath: output))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try handle.close()
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: output)), as: UTF8.self)
        return Answer(isSuccess: process.terminationStatus == 0, text: text)
    }
}
