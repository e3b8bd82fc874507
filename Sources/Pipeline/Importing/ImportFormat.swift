package import Encoding

/// How a source is read.
package enum ImportFormat: Hashable, Sendable {
    /// Each file is one proof; the name up to its first dot may be the customer.
    case files(namesCustomers: Bool)
    /// Each line is one proof, or one transaction's number.
    case lines
    /// Each line is one JSON object.
    case jsonLines
    /// The first line names the columns.
    case table(DelimitedText.Style)

    /// For the name under which the progress is kept, and for people.
    package var word: String {
        switch self {
        case .files(let namesCustomers): namesCustomers ? "files_named" : "files"
        case .lines: "lines"
        case .jsonLines: "jsonl"
        case .table(.tabs): "tsv"
        case .table(.quoted(let delimiter)): "csv_\(delimiter)"
        }
    }

    /// Guesses a file's format by its name and its first bytes.
    package static func guess(name: String, _ head: [UInt8], _ columns: ImportColumns) -> ImportFormat {
        let first = Array(ByteOrderMark.removed(from: head).prefix { $0 != 0x0A && $0 != 0x0D })
        if first.first == UInt8(ascii: "{") { return .jsonLines }
        // What is called a table is one: if no column is known, that is to be said, and not each row refused as a proof.
        if let style = style(name: name, first), isTable(name) || isHeader(first, style, columns) {
            return .table(style)
        }
        // A receipt as it lies on a device is DER, or an old property list over several lines.
        let isText = first.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
        return isText ? .lines : .files(namesCustomers: false)
    }

    private static func style(name: String, _ first: [UInt8]) -> DelimitedText.Style? {
        if name.hasSuffix(".tsv") { return .tabs }
        let delimiters: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09]
        let found = delimiters.max { one, other in count(one, first) < count(other, first) }
        guard let delimiter = found, count(delimiter, first) > 0 else {
            return name.hasSuffix(".csv") ? .quoted(delimiter: UInt8(ascii: ",")) : nil
        }
        return delimiter == 0x09 && !name.hasSuffix(".csv") ? .tabs : .quoted(delimiter: delimiter)
    }

    private static func isTable(_ name: String) -> Bool { name.hasSuffix(".csv") || name.hasSuffix(".tsv") }

    private static func count(_ byte: UInt8, _ bytes: [UInt8]) -> Int { bytes.count { $0 == byte } }

    private static func isHeader(_ first: [UInt8], _ style: DelimitedText.Style, _ columns: ImportColumns) -> Bool {
        columns.hasSubject(in: ImportHeader.names(in: first, style))
    }
}

/// The first line of a table.
struct ImportHeader: Sendable {
    let count: Int
    let proof: [Int]
    let transaction: [Int]
    let customer: [Int]
    let store: [Int]
    let kind: [Int]
    let environment: [Int]
    let isTestSigned: [Int]
    let namesSubject: Bool
    /// Of the members of ``ExportedFulfilment``, by their names.
    let exported: [String: Int]

    /// `nil` unless something that can be imported has a column.
    init?(_ names: [String], _ columns: ImportColumns) {
        guard columns.hasSubject(in: names) else { return nil }
        func places(_ wanted: [String]) -> [Int] { wanted.compactMap { names.firstIndex(of: $0) } }
        count = names.count
        proof = places(columns.proof)
        transaction = places(columns.transaction)
        customer = places(columns.customer)
        store = places(columns.storeNames)
        kind = places(columns.kind)
        (environment, isTestSigned, namesSubject) =
            switch columns.reach {
            case .proof: ([], [], false)
            case .transaction(let environment, let isTestSigned): (places([environment]), places([isTestSigned]), true)
            }
        var exported: [String: Int] = [:]
        for (member, column) in zip(ExportedFulfilment.members, ExportedFulfilment.columns) where namesSubject {
            exported[member] = names.firstIndex(of: column)
        }
        self.exported = exported
    }

    /// None if its quotes do not fit together.
    static func names(in line: [UInt8], _ style: DelimitedText.Style) -> [String] {
        let fields = (try? DelimitedText.fields(of: line, style)) ?? []
        return fields.map { String(decoding: DelimitedText.trimmed($0[...]), as: UTF8.self) }
    }

    /// Whether a CR stands outside of quotes.
    static func hasReturn(_ line: [UInt8], _ style: DelimitedText.Style) -> Bool {
        guard case .quoted = style else { return line.contains(0x0D) }
        var isQuoted = false
        return line.contains { byte in
            if byte == 0x22 { isQuoted.toggle() }
            return byte == 0x0D && !isQuoted
        }
    }
}

/// What some programs begin a text with. It is no part of the first line.
enum ByteOrderMark {
    static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

    static func removed(from text: [UInt8]) -> [UInt8] {
        text.starts(with: bytes) ? Array(text.dropFirst(bytes.count)) : text
    }
}
