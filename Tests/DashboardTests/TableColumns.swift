import Testing

/// Holds the tables of every page in these tests to their columns: a heading stands at the side at which its numbers stand.
enum TableColumns {
    /// One for each heading that does not, such as `Attempts`.
    static func faults(_ page: String) -> [String] {
        page.split(separator: "<table>", omittingEmptySubsequences: false).dropFirst().flatMap { rest in
            let table = rest.prefix(upTo: rest.firstRange(of: "</table>")?.lowerBound ?? rest.endIndex)
            var rows = table.split(separator: "<tr>").dropFirst().map { cells($0) }
            guard !rows.isEmpty else { return [String]() }
            let headings = rows.removeFirst()
            return headings.enumerated().filter { column, heading in
                rows.contains { column < $0.count && $0[column].isNumber != heading.isNumber }
            }.map(\.element.text)
        }
    }

    private static func cells(_ row: Substring) -> [(isNumber: Bool, text: String)] {
        row.matches(of: /<t[hd]((?: [^>]*)?)>([^<]*)/).map { ($0.1.contains("class=\"number\""), String($0.2)) }
    }
}

@Suite struct TableColumnTests {
    @Test(arguments: [
        (#"<th scope="col">Bytes</th>"#, #"<td class="number">1</td>"#, ["Bytes"]),
        (#"<th scope="col" class="number">Bytes</th>"#, #"<td>1</td>"#, ["Bytes"]),
        (#"<th scope="col" class="number">Bytes</th>"#, #"<td class="number">1</td>"#, []),
        (#"<th scope="col">Name</th>"#, #"<th scope="row">a</th>"#, []),
    ])
    func aHeadingBesideItsColumnIsFound(heading: String, cell: String, faults: [String]) {
        let page = "<table><thead><tr>\(heading)</tr></thead><tbody><tr>\(cell)</tr></tbody></table>"
        #expect(TableColumns.faults(page) == faults)
    }
}
