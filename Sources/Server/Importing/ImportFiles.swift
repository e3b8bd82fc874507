import Crypto
import Encoding
import Foundation
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// A file or a folder of old purchases, as an import reads it.
struct ImportFiles: Sendable {
    /// Read at once: long enough for whole rows, short enough for memory.
    private static let chunkBytes = 1 << 20
    /// Enough to see what a file is.
    private static let headBytes = 64 << 10

    let path: String
    let source: ImportSource
    let format: ImportFormat
    /// In bytes, or files.
    let size: Int64
    private let names: [String]

    /// - Parameters:
    ///   - path: of a file, or of a folder whose files are one proof each.
    ///   - word: the format that somebody has named; `nil` to find it out.
    ///   - columns: the names that a header would have.
    ///   - namesCustomers: whether files are named for their customers.
    /// - Throws: ``ImportSourceFault``.
    init(
        _ path: String,
        _ word: FormatWord?,
        _ columns: ImportColumns,
        namesCustomers: Bool
    ) throws(ImportSourceFault) {
        self.path = path
        guard FileManager.default.fileExists(atPath: path) else { throw .unreadable(errno: ENOENT) }
        if Self.isFolder(path) {
            names = try Self.files(in: path)
            format = .files(namesCustomers: namesCustomers)
            size = Int64(names.count)
            source = Self.source(files: names.map { path + "/" + $0 })
            return
        }
        names = []
        let file = try OpenFile(path)
        let head = try file.read(from: 0, upTo: Self.headBytes)
        let found = word?.format(name: path, head, columns) ?? .guess(name: path, head, columns)
        if case .files = found {
            format = .files(namesCustomers: namesCustomers)
            size = 1
            source = Self.source(files: [path])
        } else {
            format = found
            size = try file.size()
            source = ImportSource { place throws(ImportSourceFault) in
                .init(bytes: try file.read(from: place, upTo: Self.chunkBytes))
            }
        }
    }

    /// What a link leads to counts.
    private static func isFolder(_ path: String) -> Bool {
        let found = try? URL(filePath: path).resolvingSymlinksInPath().resourceValues(forKeys: [.isDirectoryKey])
        return found?.isDirectory ?? false
    }

    private static func files(in folder: String) throws(ImportSourceFault) -> [String] {
        guard let found = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .unreadable(errno: EACCES)
        }
        var files: [String] = []
        for name in found where !name.hasPrefix(".") && !isFolder(folder + "/" + name) { files.append(name) }
        return files.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func source(files: [String]) -> ImportSource {
        ImportSource { place in
            guard files.indices.contains(Int(place)) else { return .init(bytes: nil) }
            let path = files[Int(place)]
            let bytes = FileManager.default.contents(atPath: path).map { Array($0) }
            return .init(bytes: bytes, name: URL(filePath: path).lastPathComponent)
        }
    }

    /// The name of the import: of the bytes, and of how they are read. A source that has changed is another one.
    func id(app: AppID, _ columns: ImportColumns, _ delivery: ImportDelivery) throws(ImportSourceFault) -> ProofDigest {
        var digest = DigestStream(.sha256)
        let words = ["assay import", app.text, format.word, delivery.rawValue] + columns.words
        digest.update(Array(words.joined(separator: "\n").utf8).span)
        var place: Int64 = 0
        while true {
            let chunk = try source.chunk(place)
            if case .files = format {
                guard !chunk.name.isEmpty else { break }
                digest.update(Array("\n\(chunk.name)\n\(chunk.bytes?.count ?? -1)\n".utf8).span)
                place += 1
            } else {
                guard let bytes = chunk.bytes, !bytes.isEmpty else { break }
                place += Int64(bytes.count)
            }
            let bytes = chunk.bytes ?? []
            digest.update(bytes.span)
        }
        guard let id = ProofDigest(digest.hash()) else { preconditionFailure("a SHA-256 has 32 bytes") }
        return id
    }

    /// What `--format` may say.
    enum FormatWord: String, CaseIterable {
        case auto
        case receipts
        case lines
        case jsonl
        case csv
        case tsv

        func format(name: String, _ head: [UInt8], _ columns: ImportColumns) -> ImportFormat? {
            switch self {
            case .auto: return nil
            case .receipts: return .files(namesCustomers: false)
            case .lines: return .lines
            case .jsonl: return .jsonLines
            case .tsv: return .table(.tabs)
            case .csv:
                // Which delimiter, the first line says.
                if case .table(.quoted(let delimiter)) = ImportFormat.guess(name: "x.csv", head, columns) {
                    return .table(.quoted(delimiter: delimiter))
                }
                return .table(.quoted(delimiter: UInt8(ascii: ",")))
            }
        }
    }
}

/// A file that is read from many places.
private final class OpenFile: Sendable {
    private let handle: Mutex<FileHandle>

    init(_ path: String) throws(ImportSourceFault) {
        guard let handle = FileHandle(forReadingAtPath: path) else { throw .unreadable(errno: EACCES) }
        self.handle = Mutex(handle)
    }

    func read(from place: Int64, upTo count: Int) throws(ImportSourceFault) -> [UInt8] {
        let data = handle.withLock { handle in
            try? handle.seek(toOffset: UInt64(place))
            return Result { try handle.read(upToCount: count) ?? Data() }
        }
        guard case .success(let bytes) = data else { throw .unreadable(errno: EIO) }
        return Array(bytes)
    }

    func size() throws(ImportSourceFault) -> Int64 {
        guard let end = handle.withLock({ handle in try? handle.seekToEnd() }) else { throw .unreadable(errno: EIO) }
        return Int64(end)
    }
}
