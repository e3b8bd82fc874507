import Pipeline

/// Tells of rows that have taken others along, on standard error: behind one row that is invalid nobody would look for many.
///
/// Where those rows begin cannot be known: what stands between quotes may be anybody's words, also such as look like a row. So
/// they are not read, and whoever closes the quote imports them.
struct LostLines {
    /// More of them come from one mistake.
    private static let toldMax = 20

    private let path: String
    private var count = 0

    init(_ path: String) { self.path = path }

    mutating func look(at rows: [ImportRow]) {
        for row in rows {
            guard let fault = row.faultOfManyLines else { continue }
            count += 1
            guard count <= Self.toldMax else { continue }
            say(
                "lines \(row.line) to \(row.lastLine) are one row by their quotes, and an invalid one (\(fault.rawValue)): "
                    + "is one not closed? Nothing of them was taken"
            )
        }
    }

    func end(_ reader: ImportReader) {
        if count > Self.toldMax { say("and \(count - Self.toldMax) more such rows") }
        if reader.endsWithinLine { say("the last line has no line end: is the file whole?") }
    }

    private func say(_ sentence: String) {
        Console.error("assay import: \(ReportText.printable(path)): \(sentence)")
    }
}
