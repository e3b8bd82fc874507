import Encoding
import Pipeline
import PurchaseModel
import Storage

/// Rows as lines, and how many there were so far. One snapshot's reader uses it, and nobody else.
final class ExportLines {
    private let format: ExportCommand.Format
    private let columns: [String]
    private let file: ExportFile
    private var waiting: [UInt8] = []
    private var rows: Int64 = 0
    private var bar = ProgressBar(of: 0)

    /// Written at once: long enough for few writes.
    private static let chunkBytes = 1 << 16

    init(_ format: ExportCommand.Format, _ kinds: Set<ExportKind>, _ file: ExportFile) {
        self.format = format
        self.file = file
        columns = format == .csv ? kinds.first?.columns ?? [] : []
        if format == .csv { waiting = DelimitedText.record(of: columns.map { Array($0.utf8) }) }
    }

    /// - Returns: false when it cannot be written.
    func take(_ kind: ExportKind, _ row: [UInt8]) -> Bool {
        switch format {
        case .jsonl: waiting += row + [0x0A]
        case .csv:
            // What our own writer made can be read.
            guard let json = try? JSONDocument(row).root else { return false }
            waiting += DelimitedText.record(of: columns.map { Self.cell(json, $0) })
        }
        rows += 1
        bar.count(rows)
        return waiting.count < Self.chunkBytes || flush()
    }

    /// The last line of JSON says that it is whole, and where to go on.
    ///
    /// - Returns: false when it cannot be written.
    func end(_ report: ExportReport, of app: AppID) -> Bool {
        if format == .jsonl {
            waiting += JSONWriter.object { json in
                json.member("kind", "end")
                json.member("app", app.text)
                json.member("rows", report.rows)
                json.member("unreadable", report.unreadable.count)
                json.member("events_after", report.end.position)
                json.member("recorded_until", report.recordedUntil)
            }
            waiting.append(0x0A)
        }
        bar.end()
        return flush()
    }

    private func flush() -> Bool {
        defer { waiting.removeAll(keepingCapacity: true) }
        return file.write(waiting)
    }

    // MARK: A table

    private static func cell(_ row: JSONValue, _ column: String) -> [UInt8] {
        var value: JSONValue? = row
        for name in column.utf8.split(separator: UInt8(ascii: ".")) {
            value = value?.object?[String(decoding: name, as: UTF8.self)]
        }
        guard let value else { return [] }
        return value.utf8.map { DelimitedText.shielded(Array($0)) } ?? Array(value.raw)
    }
}
