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
        let first = Array(head.prefix { $0 != 0x0A && $0 != 0x0D })
        if first.first == UInt8(ascii: "{") { return .jsonLines }
        if let style = style(name: name, first), isHeader(first, style, columns) { return .table(style) }
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

    private static func count(_ byte: UInt8, _ bytes: [UInt8]) -> Int { bytes.count { $0 == byte } }

    private static func isHeader(_ first: [UInt8], _ style: DelimitedText.Style, _ columns: ImportColumns) -> Bool {
        guard let fields = try? DelimitedText.fields(of: ImportHeader.withoutMark(first), style) else { return false }
        return columns.hasSubject(in: fields.map { String(decoding: $0, as: UTF8.self) })
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

    /// `nil` unless something that can be imported has a column.
    init?(_ fields: [[UInt8]], _ columns: ImportColumns) {
        let names = fields.map { String(decoding: $0, as: UTF8.self) }
        guard columns.hasSubject(in: names) else { return nil }
        func places(_ wanted: [String]) -> [Int] { wanted.compactMap { names.firstIndex(of: $0) } }
        count = fields.count
        proof = places(columns.proof)
        transaction = places(columns.transaction)
        customer = places(columns.customer)
        store = places(columns.store)
        kind = places(columns.kind)
        (environment, isTestSigned, namesSubject) =
            switch columns.reach {
            case .proof: ([], [], false)
            case .transaction(let environment, let isTestSigned): (places([environment]), places([isTestSigned]), true)
            }
    }

    /// Some programs begin a text with a byte order mark.
    static func withoutMark(_ line: [UInt8]) -> [UInt8] {
        line.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(line.dropFirst(3)) : line
    }
}
