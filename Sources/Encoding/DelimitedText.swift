/// The fields of one record of a table in text: CSV by RFC 4180 with whatever delimiter, or what MySQL's and PostgreSQL's
/// clients write between tabs, with backslashes.
package enum DelimitedText {
    package enum Style: Hashable, Sendable {
        /// Fields may stand between quotes, a quote in them is doubled. Without quotes `\N` and `NULL` stand for nothing.
        case quoted(delimiter: UInt8)
        /// Between tabs; `\t`, `\n`, `\r`, `\0` and `\\` stand for what they say, and `\N` or `NULL` for nothing.
        case tabs
    }

    package enum Fault: Error, Hashable, Sendable {
        /// A quote is open at the end, or closed in the middle of a field.
        case quote
        case tooManyFields
    }

    /// More than any table has that is meant for this.
    package static let fieldsMax = 1_000

    package static func fields(of record: [UInt8], _ style: Style) throws(Fault) -> [[UInt8]] {
        switch style {
        case .quoted(let delimiter): try quoted(record, delimiter)
        case .tabs: try tabs(record)
        }
    }

    /// One record with commas, by RFC 4180, and its end. What would be read as nothing stands between quotes, too.
    package static func record(of fields: [[UInt8]]) -> [UInt8] {
        let cells = fields.map { field in
            let isSpecial = field.contains { #"",\#r\#n"#.utf8.contains($0) }
            guard isSpecial || isNothing(trimmed(field[...])) else { return field }
            let quote = UInt8(ascii: "\"")
            return [quote] + field.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
        }
        return Array(cells.joined(separator: [UInt8(ascii: ",")])) + [0x0D, 0x0A]
    }

    /// A text as programs that show tables take it for a text: with an apostrophe in front if it begins as a formula does,
    /// which they would run, or as what was changed so.
    ///
    /// Source: OWASP, *CSV Injection*.
    package static func shielded(_ text: [UInt8]) -> [UInt8] {
        isFormula(text[...]) ? [apostrophe] + text : text
    }

    /// What ``shielded(_:)`` was made of.
    package static func unshielded(_ field: [UInt8]) -> [UInt8] {
        field.first == apostrophe && isFormula(field[...]) ? Array(field.dropFirst()) : field
    }

    private static let apostrophe = UInt8(ascii: "'")

    /// Apostrophes in front count for nothing.
    private static func isFormula(_ text: ArraySlice<UInt8>) -> Bool {
        text.first { $0 != apostrophe }.map { "=+-@\t\r\n".utf8.contains($0) } ?? false
    }

    /// People and some programs write blanks around delimiters.
    package static func trimmed(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isText(_ byte: UInt8) -> Bool { byte != 0x20 && byte != 0x09 }
        guard let first = field.firstIndex(where: isText), let last = field.lastIndex(where: isText) else { return [] }
        return field[first...last]
    }

    /// What the clients of databases write for what is not there.
    private static func isNothing(_ field: ArraySlice<UInt8>) -> Bool {
        field.elementsEqual("\\N".utf8) || field.elementsEqual("NULL".utf8)
    }

    private static func quoted(_ record: [UInt8], _ delimiter: UInt8) throws(Fault) -> [[UInt8]] {
        var fields: [[UInt8]] = []
        var place = 0
        while true {
            guard fields.count < fieldsMax else { throw .tooManyFields }
            var field: [UInt8] = []
            if place < record.count, record[place] == 0x22 {
                place += 1
                while true {
                    guard let quote = ByteSearch.firstIndex(of: 0x22, in: record.span, from: place) else {
                        throw .quote
                    }
                    field += record[place..<quote]
                    place = quote + 1
                    guard place < record.count, record[place] == 0x22 else { break }
                    field.append(0x22)
                    place += 1
                }
                guard place == record.count || record[place] == delimiter else { throw .quote }
            } else {
                let end = ByteSearch.firstIndex(of: delimiter, in: record.span, from: place) ?? record.count
                if !isNothing(trimmed(record[place..<end])) { field += record[place..<end] }
                place = end
            }
            fields.append(field)
            guard place < record.count else { return fields }
            place += 1
        }
    }

    private static func tabs(_ record: [UInt8]) throws(Fault) -> [[UInt8]] {
        let parts = record.split(separator: 0x09, maxSplits: fieldsMax, omittingEmptySubsequences: false)
        guard parts.count <= fieldsMax else { throw .tooManyFields }
        return parts.map { part in
            if isNothing(part) { return [] }
            guard part.contains(0x5C) else { return Array(part) }
            var field: [UInt8] = []
            var rest = part
            while let byte = rest.popFirst() {
                guard byte == 0x5C, let next = rest.popFirst() else {
                    field.append(byte)
                    continue
                }
                switch next {
                case UInt8(ascii: "t"): field.append(0x09)
                case UInt8(ascii: "n"): field.append(0x0A)
                case UInt8(ascii: "r"): field.append(0x0D)
                case UInt8(ascii: "0"): field.append(0x00)
                default: field.append(next)
                }
            }
            return field
        }
    }
}
