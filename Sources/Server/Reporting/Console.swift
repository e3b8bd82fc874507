/// Standard output and standard error, as bytes.
enum Console {
    /// - Returns: false when it could not be written: the disk behind it is full, say.
    @discardableResult
    static func write(_ bytes: [UInt8]) -> Bool {
        (try? OpenFile.standardOutput.write(bytes)) != nil
    }

    @discardableResult
    static func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    static func error(_ line: String) { errorPart(line + "\n") }

    /// Of a line.
    static func errorPart(_ text: String) { try? OpenFile.standardError.write(Array(text.utf8)) }
}
