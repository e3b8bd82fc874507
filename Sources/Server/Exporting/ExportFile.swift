import Glibc

/// Where an export goes: a new file, or standard output.
struct ExportFile {
    struct Fault: Error {
        let sentence: String
    }

    /// `nil` for standard output, and for a file that cannot be opened.
    private let file: OpenFile?
    private let isFile: Bool

    /// Makes an empty file that its owner alone reads: customers are in it.
    static func make(_ path: String) throws(Fault) {
        do throws(FileFault) {
            try OpenFile(path, to: .make).close()
        } catch {
            let isThere = error.errno == EEXIST
            throw Fault(sentence: isThere ? "\(path) is there already; nothing is overwritten" : error.description)
        }
    }

    init(_ path: String?) {
        isFile = path != nil
        file = path.flatMap { try? OpenFile($0, to: .update) }
    }

    func write(_ bytes: [UInt8]) -> Bool {
        guard isFile else { return Console.write(bytes) }
        return (try? file?.write(bytes)) != nil
    }

    /// To the disk.
    func close() -> Bool {
        guard isFile else { return true }
        guard let file, (try? file.synchronize()) != nil else { return false }
        return (try? file.close()) != nil
    }
}
