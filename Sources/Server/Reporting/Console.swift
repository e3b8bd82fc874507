import Synchronization

/// Standard output and standard error, as bytes.
enum Console {
    private static let loss = Atomic(false)

    /// Whether something that was written to standard output did not get there: the disk behind it is full, say. Then a
    /// command has not done what it was asked for, whatever else it did.
    static var hasLostOutput: Bool { loss.load(ordering: .relaxed) }

    /// - Returns: false when it could not be written.
    @discardableResult
    static func write(_ bytes: [UInt8]) -> Bool {
        do throws(FileFault) {
            try OpenFile.standardOutput.write(bytes)
            return true
        } catch {
            loss.store(true, ordering: .relaxed)
            return false
        }
    }

    @discardableResult
    static func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// What nobody has asked for; whether it gets there does not matter.
    static func greet(_ text: String) { try? OpenFile.standardOutput.write(Array(text.utf8)) }

    static func error(_ line: String) { errorPart(line + "\n") }

    /// Of a line.
    static func errorPart(_ text: String) { try? OpenFile.standardError.write(Array(text.utf8)) }
}
