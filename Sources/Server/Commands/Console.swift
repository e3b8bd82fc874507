import Foundation

/// Standard output and standard error, as bytes.
enum Console {
    static func write(_ bytes: [UInt8]) {
        try? FileHandle.standardOutput.write(contentsOf: Data(bytes))
    }

    static func write(_ text: String) { write(Array(text.utf8)) }

    static func error(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
