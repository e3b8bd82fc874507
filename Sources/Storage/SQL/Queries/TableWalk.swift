/// A walk along one table: what is asked, and what the key is made of.
struct TableWalk: Sendable {
    enum Part: Sendable { case integer, text, bytes }

    private let table: String
    /// The row's first columns are its key's. Its parameters: who it is about, the place, how many.
    private let query: Query
    private let key: [Part]
    /// Before every key.
    private let start: [SQLValue]

    init(_ table: String, of owner: String?, by key: [(name: String, part: Part)], _ columns: String) {
        self.table = table
        self.key = key.map(\.part)
        start = key.map { key in
            switch key.part {
            case .integer: .integer(-1)
            case .text: .text("")
            case .bytes: .bytes([])
            }
        }
        let first = owner == nil ? 1 : 2
        let names = key.map(\.name).joined(separator: ", ")
        let places = key.indices.map { "$\($0 + first)" }.joined(separator: ", ")
        let whose = owner.map { "\($0) = $1 AND " } ?? ""
        query = Query(
            """
            SELECT \(columns) FROM \(table) WHERE \(whose)(\(names)) > (\(places))
            ORDER BY \(names) LIMIT $\(key.count + first)
            """
        )
    }

    /// - Parameters:
    ///   - owner: who the walk is about.
    ///   - place: where the last page ended.
    ///   - limit: brought between 1 and ``WalkPage/limitMax``.
    ///   - connection: what is asked.
    ///   - read: makes a row; one that cannot be made is named and passed over.
    /// - Returns: the rows after the place, in the order of their keys.
    /// - Throws: ``StoreFailure``.
    func page<Row>(
        of owner: [SQLValue],
        after place: WalkPlace?,
        _ limit: Int,
        on connection: any SQLConnection,
        _ read: (SQLRow) throws(StoreFailure) -> Row
    ) throws(StoreFailure) -> WalkPage<Row> {
        let limit = min(max(limit, 1), WalkPage<Row>.limitMax)
        var page = WalkPage<Row>()
        var (last, count): (WalkPlace?, Int) = (nil, 0)
        let start = place.map { $0.parts.map(Self.value) } ?? start
        // One more than asked for tells whether there is more.
        try connection.run(query, owner + start + [.integer(Int64(limit + 1))]) { row throws(StoreFailure) in
            count += 1
            guard count <= limit else { return }
            let key = WalkPlace(parts: key.enumerated().map { Self.part(row, Int32($0.offset), $0.element) })
            last = key
            do throws(StoreFailure) {
                page.rows.append(try read(row))
            } catch {
                page.unreadable.append(name(key))
            }
        }
        if count > limit { page.next = last }
        return page
    }

    private static func part(_ row: SQLRow, _ column: Int32, _ part: Part) -> WalkPlace.Part {
        switch part {
        case .integer: .integer(row.integer(column))
        case .text: .text(row.text(column))
        case .bytes: .bytes(row.bytes(column))
        }
    }

    static func value(_ part: WalkPlace.Part) -> SQLValue {
        switch part {
        case .integer(let number): .integer(number)
        case .text(let text): .text(text)
        case .bytes(let bytes): .bytes(bytes)
        }
    }

    /// Such as `fulfilments 1000/0/1000`.
    private func name(_ key: WalkPlace) -> String {
        let parts = key.parts.map { part in
            switch part {
            case .integer(let number): String(number)
            case .text(let text): text
            case .bytes(let bytes):
                bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
            }
        }
        return table + " " + parts.joined(separator: "/")
    }
}
