import Crypto
import Encoding
import FoundationEssentials
import Storage

/// A copy of a ledger in a file, with its SHA-256 beside it in the form of `sha256sum`.
struct BackupCopy {
    let path: String

    var digestPath: String { path + ".sha256" }

    /// Why a copy is not used.
    enum Fault: Error, CustomStringConvertible {
        case noDigest(String)
        case leftDigest(String)
        case otherDigest(String)
        case notEmpty(String)
        case noFolder(String)
        case full(String)
        /// With what SQLite says of it.
        case unwritable(String, String)

        var description: String {
            switch self {
            case .noDigest(let path): "\(path) is missing or is no SHA-256; sha256sum FILE > FILE.sha256 makes one"
            case .leftDigest(let path):
                "\(path) is there, and what it is of is not: what was cut off has left it; remove it, or take another name"
            case .otherDigest(let path): "the bytes of \(path) are not those of its SHA-256"
            case .notEmpty(let path): "\(path) is not empty: restore into a new folder"
            case .noFolder(let path): "\(path) cannot be made or read"
            case .full(let path): "no space is left for \(path)"
            case .unwritable(let path, let words): "\(path) cannot be written (\(words))"
            }
        }
    }

    private static let partBytes = 1 << 20

    /// Throws when a digest stands there without its copy.
    func confirmNoDigest() throws(Fault) {
        guard FileStatus(digestPath) == nil || FileStatus(path) != nil else { throw .leftDigest(digestPath) }
    }

    /// Copies the ledger into a file that is there and empty.
    ///
    /// - Throws: ``Fault`` where that cannot be written, for nothing is written to the ledger; `StoreFailure` of the ledger.
    static func fill(_ path: String, from ledger: ReadOnlyLedger) async throws {
        do throws(StoreFailure) {
            try await ledger.copy(into: path)
        } catch .full {
            throw Fault.full(path)
        } catch .broken(let code) where BrokenCode.isOfWriting(code) {
            throw Fault.unwritable(path, BrokenCode.words(code))
        }
    }

    /// Writes the digest of the file that is to get the copy's name.
    func write(_ digest: String) throws {
        let name = URL(filePath: path).lastPathComponent
        let text = digest + "  \(name)\n"
        let file = try OpenFile(digestPath, to: .make)
        do {
            try file.write(Array(text.utf8))
            try file.synchronize()
            try file.close()
        } catch {
            removeDigest()
            throw error
        }
    }

    func removeDigest() { try? FileManager.default.removeItem(atPath: digestPath) }

    /// Copies the file to a folder as its ledger; throws unless every byte that arrived is of the digest.
    func unpack(to folder: String) throws {
        guard let text = FileManager.default.contents(atPath: digestPath).map({ String(decoding: $0, as: UTF8.self) }),
            let word = text.utf8.split(separator: UInt8(ascii: " ")).first, word.count == 64,
            let wanted = Hexadecimal.decode(word)
        else { throw Fault.noDigest(digestPath) }
        let output = try OpenFile(folder + "/assay.sqlite", to: .make)
        let found = try Self.digest(of: path) { try output.write($0) }
        try output.synchronize()
        try output.close()
        guard Hexadecimal.decode(found) == wanted else { throw Fault.otherDigest(path) }
    }

    static func digest(of file: String, _ visit: ([UInt8]) throws -> Void = { _ in }) throws -> String {
        let input = try OpenFile(file, to: .read)
        var digest = DigestStream(.sha256)
        var part = try input.read(upTo: partBytes)
        while !part.isEmpty {
            digest.update(part.span)
            try visit(part)
            part = try input.read(upTo: partBytes)
        }
        try input.close()
        return Hexadecimal.encode(digest.hash())
    }
}
