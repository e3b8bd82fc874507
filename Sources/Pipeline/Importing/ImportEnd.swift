import Encoding
package import PurchaseModel

extension ImportReader {
    /// Looks an export of ours through, before anything of it is taken: what one lacks that was cut off, nobody would miss.
    ///
    /// Several that stand one after the other in a file have an end each. A table has none, nor have other services' exports.
    ///
    /// - Returns: when the newest of its transactions was recorded, of several exports the earliest; `nil` where one does not say.
    /// - Throws: ``ImportSourceFault/noEnd`` or ``ImportSourceFault/otherRows(said:found:)`` if it is not whole.
    package static func confirmEnd(
        of source: ImportSource,
        _ format: ImportFormat,
        _ columns: ImportColumns
    ) throws(ImportSourceFault) -> Timestamp? {
        // Of nothing, no format can be guessed: lines, then.
        guard !columns.kind.isEmpty, [.lines, .jsonLines].contains(format) else { return nil }
        var ends = ExportEnds(kind: columns.kind)
        var splitter = RecordSplitter(bytesMax: ExportEnds.bytesMax, delimiter: nil)
        var place = try beginning(of: source, format)
        while let bytes = try source.chunk(place).bytes, !bytes.isEmpty {
            place += Int64(bytes.count)
            for record in splitter.feed(bytes) { try ends.take(record) }
        }
        if let last = splitter.finish() { try ends.take(last) }
        guard ends.isWhole else { throw .noEnd }
        return ends.recordedUntil
    }
}

/// Counts rows up to the line that says how many there are.
private struct ExportEnds {
    /// An app's name and some numbers stand in that line. What is longer is a row, and need not be held.
    static let bytesMax = 4 << 10

    let kind: [String]
    private var rows: Int64 = 0
    private(set) var isWhole = false
    private var isSilent = false
    private var first: Timestamp?

    /// `nil` unless each end says it.
    var recordedUntil: Timestamp? { isSilent ? nil : first }

    init(kind: [String]) { self.kind = kind }

    mutating func take(_ record: RecordSplitter.Record) throws(ImportSourceFault) {
        guard record.isTooLong || !record.bytes.isEmpty else { return }
        guard let end = end(in: record), let said = end["rows"]?.int64 else {
            rows += 1
            isWhole = false
            return
        }
        let milliseconds = end["recorded_until"]?.string.flatMap { RFC3339.milliseconds($0) }
        let moment = milliseconds.map(Timestamp.init(milliseconds:))
        if let moment { first = min(first ?? moment, moment) } else { isSilent = true }
        guard said == rows else { throw .otherRows(said: said, found: rows) }
        rows = 0
        isWhole = true
    }

    private func end(in record: RecordSplitter.Record) -> JSONObject? {
        guard !record.isTooLong, let object = try? JSONDocument(record.bytes).root.object else { return nil }
        guard kind.contains(where: { object[$0]?.string == "end" }) else { return nil }
        return object
    }
}
