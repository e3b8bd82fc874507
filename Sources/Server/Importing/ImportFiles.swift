import Crypto
import Encoding
import FoundationEssentials
import Glibc
import Pipeline
import PurchaseModel
import Storage

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
    /// When its books end, if it is an export of ours that says so.
    var closedAt: Timestamp?
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
        guard let status = FileStatus(path) else { throw .unreadable(errno: ENOENT) }
        if status.isFolder {
            names = try Self.files(in: path)
            format = .files(namesCustomers: namesCustomers)
            size = Int64(names.count)
            source = Self.source(files: names.map { path + "/" + $0 })
            return
        }
        names = []
        let file = try ImportedFile(path)
        let head = try file.read(at: 0, upTo: Self.headBytes)
        let found = word?.format(name: path, head, columns) ?? .guess(name: path, head, columns)
        if case .files = found {
            format = .files(namesCustomers: namesCustomers)
            size = 1
            source = Self.source(files: [path])
        } else {
            format = found
            size = status.size
            source = ImportSource { place throws(ImportSourceFault) in
                .init(bytes: try file.read(at: place, upTo: Self.chunkBytes))
            }
        }
    }

    private static func files(in folder: String) throws(ImportSourceFault) -> [String] {
        guard let found = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .unreadable(errno: EACCES)
        }
        var files: [String] = []
        for name in found where !name.hasPrefix(".") {
            // A pipe would be waited for, for ever. What cannot be looked at is told of as a row.
            if FileStatus(folder + "/" + name)?.isRegular != false { files.append(name) }
        }
        return files.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func source(files: [String]) -> ImportSource {
        ImportSource { place in
            guard files.indices.contains(Int(place)) else { return .init(bytes: nil) }
            return chunk(of: files[Int(place)])
        }
    }

    /// A file by itself. One that is too long for a proof is not read: what lies among receipts may be larger than the memory.
    private static func chunk(of path: String) -> ImportSource.Chunk {
        let name = URL(filePath: path).lastPathComponent
        guard let file = try? OpenFile(path, to: .read), let size = try? file.size() else {
            return .init(bytes: nil, name: name)
        }
        let bytesMax = ImportReader.rowBytesMax
        guard size <= bytesMax else { return .init(bytes: nil, name: name, isTooLong: true) }
        // It may grow while it is read.
        let bytes = try? file.read(upTo: bytesMax + 1)
        return bytes.map { $0.count > bytesMax } == true
            ? .init(bytes: nil, name: name, isTooLong: true) : .init(bytes: bytes, name: name)
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
                let count = chunk.bytes?.count ?? (chunk.isTooLong ? -2 : -1)
                digest.update(Array("\n\(chunk.name)\n\(count)\n".utf8).span)
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
private struct ImportedFile {
    private let file: OpenFile

    init(_ path: String) throws(ImportSourceFault) {
        do throws(FileFault) {
            file = try OpenFile(path, to: .read)
        } catch {
            throw .unreadable(errno: error.errno)
        }
    }

    func read(at place: Int64, upTo count: Int) throws(ImportSourceFault) -> [UInt8] {
        do throws(FileFault) {
            return try file.read(at: place, upTo: count)
        } catch {
            throw .unreadable(errno: error.errno)
        }
    }
}
