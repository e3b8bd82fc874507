import Foundation

/// Where an export goes: a new file, or standard output.
struct ExportFile {
    struct Fault: Error {
        let sentence: String
    }

    /// `nil` for standard output, and for a file that cannot be opened.
    private let handle: FileHandle?
    private let isFile: Bool

    /// Makes an empty file that its owner alone reads: customers are in it.
    static func make(_ path: String) throws(Fault) {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw Fault(sentence: "\(path) is there already; nothing is overwritten")
        }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw Fault(sentence: "\(path) cannot be made")
        }
    }

    init(_ path: String?) {
        isFile = path != nil
        handle = path.flatMap { FileHandle(forWritingAtPath: $0) }
    }

    func write(_ bytes: [UInt8]) -> Bool {
        guard isFile else { return Console.write(bytes) }
        return (try? handle?.write(contentsOf: Data(bytes))) != nil
    }

    /// To the disk.
    func close() -> Bool {
        guard isFile else { return true }
        guard let handle, (try? handle.synchronize()) != nil else { return false }
        return (try? handle.close()) != nil
    }
}
