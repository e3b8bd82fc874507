import Encoding
import Foundation

/// The `openssl` program: an independent reader of what we sign, and a maker of what we cannot.
package struct OpenSSLTool {
    package struct Answer {
        package var isSuccess: Bool
        /// What it wrote, both channels.
        package var text: String
    }

    private let folder: URL

    /// Makes a folder of its own for the files.
    package init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Takes the files away again.
    package func remove() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Writes a file for the next call and gives its path.
    package func write(_ bytes: [UInt8], as name: String) throws -> String {
        let file = folder.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return file.path
    }

    package func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    package func read(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    /// A certificate as PEM.
    package func writePEM(_ der: [UInt8], as name: String) throws -> String {
        let text = Base64.encode(der, .standard, isPadded: true)
        var lines = "-----BEGIN CERTIFICATE-----\n"
        for start in stride(from: 0, to: text.count, by: 64) {
            lines += String(decoding: text[start..<min(start + 64, text.count)], as: UTF8.self) + "\n"
        }
        return try write(Array((lines + "-----END CERTIFICATE-----\n").utf8), as: name)
    }

    package func run(_ arguments: [String]) throws -> Answer {
        var process = ChildProcess(["/usr/bin/env", "openssl"] + arguments)
        let output = path("output-" + UUID().uuidString)
        process.output = .file(output)
        process.errors = .file(output + "-errors")
        let code = try process.start().waitUntilExit()
        let text = try [output, output + "-errors"].map { path in
            String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        }
        return Answer(isSuccess: code == 0, text: text.joined())
    }
}
