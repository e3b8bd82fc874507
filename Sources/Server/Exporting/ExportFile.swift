import Synchronization

/// Where the rows of an export go: a file that is not whole yet, or standard output.
final class ExportFile: Sendable {
    enum Fault: Error {
        /// Rows stand on standard output already, of a snapshot that is gone.
        case brokenOff
        case file(FileFault)
        /// Standard output takes no more.
        case unwritable

        var sentence: String {
            switch self {
            case .brokenOff:
                "the connection to the database broke after rows were written to standard output: what stands there is not "
                    + "whole, and is to be thrown away; --to FILE begins anew by itself"
            case .file(let fault): fault.description
            case .unwritable: "standard output cannot be written"
            }
        }
    }

    /// `nil` for standard output.
    private let file: OpenFile?
    private let hasWritten = Atomic(false)
    /// Why the file took no more.
    private let refusal = Mutex<FileFault?>(nil)

    /// Of an empty file's path; `nil` for standard output.
    init(_ path: String?) throws(Fault) {
        do throws(FileFault) {
            file = try path.map { path throws(FileFault) in try OpenFile(path, to: .update) }
        } catch {
            throw .file(error)
        }
    }

    /// Begins, for the first time or anew: what a database lost is read again from the beginning, over another snapshot, of
    /// which the rows of the first are no part.
    func begin() throws(Fault) {
        guard let file else {
            guard !hasWritten.load(ordering: .relaxed) else { throw .brokenOff }
            return
        }
        do throws(FileFault) {
            try file.truncate(to: 0)
        } catch {
            throw .file(error)
        }
    }

    func write(_ bytes: [UInt8]) -> Bool {
        guard let file else {
            hasWritten.store(true, ordering: .relaxed)
            return Console.write(bytes)
        }
        do throws(FileFault) {
            try file.write(bytes)
            return true
        } catch {
            refusal.withLock { $0 = error }
            return false
        }
    }

    /// Why something was not written.
    var fault: Fault { refusal.withLock { $0 }.map(Fault.file) ?? .unwritable }

    /// To the disk.
    func close() throws(Fault) {
        do throws(FileFault) {
            try file?.synchronize()
            try file?.close()
        } catch {
            throw .file(error)
        }
    }
}
