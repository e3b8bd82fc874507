/// Cuts a stream of bytes into records, one a line, without ever holding more than one of them.
///
/// A quoted field may hold line ends (RFC 4180 § 2.6). It begins with its quote: one in the middle of a field, as of inches, is
/// text, as it is to ``DelimitedText``. A record that is longer than allowed is told of and skipped up to the next line end, so
/// that an open quote costs one record and not the rest of the file.
package struct RecordSplitter: Sendable {
    /// One record, and where it stands.
    package struct Record: Hashable, Sendable {
        /// Without its line end; empty when it is too long.
        package var bytes: [UInt8]
        /// On which line it begins.
        package var line: Int64
        /// On which line it ends: the same unless a quoted field holds line ends.
        package var lastLine: Int64
        package var isTooLong: Bool
        /// Where the next one begins, in bytes, and on which line.
        package var end: Int64
        package var lineAfter: Int64
    }

    /// Where in its field a record ends by now.
    private enum Field {
        /// At its beginning, or behind a quote that ends it unless another one follows.
        case edge
        case plain
        case quoted
    }

    private let bytesMax: Int
    private let delimiter: UInt8?
    private var place: Int64
    private var line: Int64
    private var firstLine: Int64
    private var bytes: [UInt8] = []
    private var field = Field.edge
    private var isTooLong = false

    /// - Parameters:
    ///   - place: where the first byte that is fed stands in the whole.
    ///   - line: on which line.
    ///   - bytesMax: the longest record.
    ///   - delimiter: what stands between fields whose quotes may hold line ends; `nil` where quotes mean nothing.
    package init(from place: Int64 = 0, line: Int64 = 1, bytesMax: Int, delimiter: UInt8?) {
        self.place = place
        self.line = line
        self.bytesMax = bytesMax
        self.delimiter = delimiter
        firstLine = line
    }

    /// Takes the next bytes in.
    ///
    /// - Returns: the records that end in them.
    package mutating func feed(_ chunk: [UInt8]) -> [Record] {
        var records: [Record] = []
        var start = 0
        while let end = ByteSearch.firstIndex(of: 0x0A, in: chunk.span, from: start) {
            add(chunk[start..<end])
            place += Int64(end - start + 1)
            line += 1
            start = end + 1
            if field == .quoted, !isTooLong {
                bytes.append(0x0A)
            } else {
                records.append(take(to: line - 1))
            }
        }
        add(chunk[start...])
        place += Int64(chunk.count - start)
        return records
    }

    /// The last record, if it has no line end.
    package mutating func finish() -> Record? {
        guard !bytes.isEmpty || isTooLong else { return nil }
        return take(to: bytes.last == 0x0A ? line - 1 : line)
    }

    private mutating func add(_ part: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        guard bytes.count + part.count <= bytesMax else {
            isTooLong = true
            bytes = []
            return
        }
        bytes += part
        if let delimiter { follow(part.span, delimiter) }
    }

    private mutating func follow(_ part: Span<UInt8>, _ delimiter: UInt8) {
        var at = 0
        while at < part.count {
            switch field {
            case .edge:
                field = part[at] == 0x22 ? .quoted : part[at] == delimiter ? .edge : .plain
                at += 1
            case .plain:
                guard let end = ByteSearch.firstIndex(of: delimiter, in: part, from: at) else { return }
                (field, at) = (.edge, end + 1)
            case .quoted:
                guard let quote = ByteSearch.firstIndex(of: 0x22, in: part, from: at) else { return }
                (field, at) = (.edge, quote + 1)
            }
        }
    }

    private mutating func take(to lastLine: Int64) -> Record {
        if bytes.last == 0x0D { bytes.removeLast() }
        defer {
            bytes = []
            (field, isTooLong) = (.edge, false)
            firstLine = line
        }
        return Record(
            bytes: bytes,
            line: firstLine,
            lastLine: lastLine,
            isTooLong: isTooLong,
            end: place,
            lineAfter: line
        )
    }
}
