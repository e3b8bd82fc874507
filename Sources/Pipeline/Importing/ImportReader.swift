import Encoding
import PurchaseModel

/// Where old purchases come from: a file, or the files of a folder.
package struct ImportSource: Sendable {
    /// Some bytes from a place on, none at its end; of files each whole, by its number, with its name.
    package var chunk: @Sendable (_ place: Int64) throws(ImportSourceFault) -> Chunk

    package struct Chunk: Sendable {
        package var bytes: [UInt8]?
        /// A file's name, without its folder.
        package var name: String
        /// The file has more than ``ImportReader/rowBytesMax``, and is not read.
        package var isTooLong: Bool

        package init(bytes: [UInt8]?, name: String = "", isTooLong: Bool = false) {
            self.bytes = bytes
            self.name = name
            self.isTooLong = isTooLong
        }
    }

    package init(chunk: @escaping @Sendable (_ place: Int64) throws(ImportSourceFault) -> Chunk) {
        self.chunk = chunk
    }
}

/// Why a source cannot be read at all.
package enum ImportSourceFault: Error, Hashable, Sendable {
    /// With the system's number.
    case unreadable(errno: Int32)
    /// Its first line names no column that could be imported.
    case noColumns(found: [String])
    /// Its lines end with CR alone, as on old Macs: the whole of it would be the first line.
    case lineEnds
    /// An export of ours whose last line is not its end.
    case noEnd
    /// An export of ours that tells of another number of rows than stand there.
    case otherRows(said: Int64, found: Int64)
}

/// Reads a source row after row, holding no more than a chunk of it.
package struct ImportReader: Sendable {
    /// A receipt of many years has some MB.
    package static let rowBytesMax = 32 << 20

    private let source: ImportSource
    private let format: ImportFormat
    private let columns: ImportColumns
    private var splitter: RecordSplitter
    private var header: ImportHeader?
    private var place: Int64 = 0
    private var line: Int64 = 1
    private var ready: ArraySlice<ImportRow> = []
    private var isAtEnd = false
    /// Whether the last line of a table has no line end: of one that was cut off, a field may be the beginning of another
    /// customer's name.
    package private(set) var endsWithinLine = false

    /// - Parameters:
    ///   - source: where the rows are.
    ///   - format: how they stand there.
    ///   - columns: under which names.
    ///   - place: where the first row begins that was not taken yet; 0 for all of them.
    ///   - line: on which line.
    /// - Throws: ``ImportSourceFault``.
    package init(
        _ source: ImportSource,
        _ format: ImportFormat,
        _ columns: ImportColumns,
        from place: Int64 = 0,
        line: Int64 = 1
    ) throws(ImportSourceFault) {
        self.source = source
        self.format = format
        self.columns = columns
        self.place = try Self.beginning(of: source, format)
        splitter = Self.splitter(format, from: self.place, line: 1)
        if case .table(let style) = format {
            let first = try firstRecord()
            guard !first.isTooLong, !ImportHeader.hasReturn(first.bytes, style) else { throw .lineEnds }
            let names = ImportHeader.names(in: first.bytes, style)
            guard let header = ImportHeader(names, columns) else { throw .noColumns(found: Array(names.prefix(50))) }
            self.header = header
            (self.place, self.line) = (first.end, first.lineAfter)
        }
        if place > self.place { (self.place, self.line) = (place, line) }
        splitter = Self.splitter(format, from: self.place, line: self.line)
    }

    private static func splitter(_ format: ImportFormat, from place: Int64, line: Int64) -> RecordSplitter {
        var delimiter: UInt8?
        if case .table(.quoted(let found)) = format { delimiter = found }
        return RecordSplitter(from: place, line: line, bytesMax: rowBytesMax, delimiter: delimiter)
    }

    /// Where the text begins: behind the byte order mark, if some program has written one.
    static func beginning(
        of source: ImportSource,
        _ format: ImportFormat
    ) throws(ImportSourceFault) -> Int64 {
        if case .files = format { return 0 }
        var head: [UInt8] = []
        while head.count < ByteOrderMark.bytes.count {
            guard let more = try source.chunk(Int64(head.count)).bytes, !more.isEmpty else { break }
            head += more
        }
        return Int64(head.count - ByteOrderMark.removed(from: head).count)
    }

    private mutating func firstRecord() throws(ImportSourceFault) -> RecordSplitter.Record {
        var at = place
        while let bytes = try source.chunk(at).bytes, !bytes.isEmpty {
            if let record = splitter.feed(bytes).first { return record }
            at += Int64(bytes.count)
        }
        guard let record = splitter.finish() else { throw .noColumns(found: []) }
        return record
    }

    /// The next rows.
    ///
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - bytesMax: with more than that none is added; one row may be longer.
    /// - Returns: none at the end.
    /// - Throws: ``ImportSourceFault``.
    package mutating func next(_ limit: Int, bytesMax: Int) throws(ImportSourceFault) -> [ImportRow] {
        var rows: [ImportRow] = []
        var bytes = 0
        while rows.count < limit, bytes < bytesMax {
            guard let row = ready.popFirst() else {
                guard !isAtEnd else { break }
                try read()
                continue
            }
            rows.append(row)
            if case .success(let claim) = row.claim { bytes += claim.proof.count }
        }
        return rows
    }

    private mutating func read() throws(ImportSourceFault) {
        let chunk = try source.chunk(place)
        if case .files(let namesCustomers) = format {
            guard let row = file(chunk, namesCustomers) else { return isAtEnd = true }
            ready = [row]
            place += 1
            return
        }
        var records: [RecordSplitter.Record] = []
        if let bytes = chunk.bytes, !bytes.isEmpty {
            place += Int64(bytes.count)
            records = splitter.feed(bytes)
        } else {
            isAtEnd = true
            if let last = splitter.finish() {
                records = [last]
                // What ends in the middle of a quote is told of as an invalid row.
                if case .table = format { endsWithinLine = last.bytes.last != 0x0A }
            }
        }
        ready =
            records.filter { $0.isTooLong || !$0.bytes.isEmpty }.map { record in
                ImportRow(
                    line: record.line,
                    lastLine: record.lastLine,
                    end: record.end,
                    lineAfter: record.lineAfter,
                    claim: claim(of: record)
                )
            }[...]
    }

    /// An empty name is past the last file.
    private func file(_ chunk: ImportSource.Chunk, _ namesCustomers: Bool) -> ImportRow? {
        guard !chunk.name.isEmpty else { return nil }
        var row = ImportRow(line: place + 1, end: place + 1, lineAfter: place + 2, claim: .failure(.unreadable))
        guard !chunk.isTooLong else {
            row.claim = .failure(.tooLong)
            return row
        }
        guard let bytes = chunk.bytes else { return row }
        var customer: CustomerID?
        if namesCustomers {
            let name = chunk.name.utf8.prefix { $0 != UInt8(ascii: ".") }
            customer = CustomerID(given: String(decoding: name, as: UTF8.self))
            guard customer != nil else {
                row.claim = .failure(.customer)
                return row
            }
        }
        row.claim = bytes.isEmpty ? .failure(.noProof) : .success(ImportRow.Claim(proof: bytes, customer: customer))
        return row
    }

    private func claim(of record: RecordSplitter.Record) -> Result<ImportRow.Claim, ImportRowFault> {
        guard !record.isTooLong else { return .failure(.tooLong) }
        switch format {
        case .files: return .failure(.noProof)
        case .lines: return .success(ImportRow.Claim(proof: record.bytes))
        case .jsonLines: return JSONImportRow.claim(of: record.bytes, columns)
        case .table(let style):
            guard let header else { return .failure(.fieldCount) }
            return header.claim(of: record.bytes, style, columns)
        }
    }
}
