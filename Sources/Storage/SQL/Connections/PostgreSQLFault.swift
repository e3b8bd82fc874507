/// Why the server, or the way to it, did not do what it was asked.
struct PostgreSQLFault: Error {
    /// The connection broke.
    static let lost = PostgreSQLFault(state: "", isLost: true)
    /// Nothing was heard for longer than an answer may take.
    static let silent = PostgreSQLFault(state: "", isLost: true, words: "no answer to a statement came in time")
    /// What the server says when two transactions cannot both be.
    static let serialization = PostgreSQLFault(state: "40001", isLost: false)

    /// The SQLSTATE, five characters; empty when there is none.
    let state: String
    /// No statement can be sent any more over this connection.
    let isLost: Bool
    /// For people; the server's own may have what stands in rows.
    let words: String

    init(state: String, isLost: Bool, words: String? = nil) {
        self.state = state
        self.isLost = isLost
        self.words = words ?? (state.isEmpty ? "the connection broke" : "SQLSTATE \(state)")
    }

    /// What a retry, space or a person can mend. The classes are those of PostgreSQL 15's appendix A.
    var failure: StoreFailure {
        if isLost { return .unreachable }
        return switch state {
        // Also a unique constraint: whoever wrote the row first was faster.
        case "40001", "40P01", "55P03", "23505": .conflict
        case "53100": .full
        // Shutting down; the connection was refused; only reading is allowed here.
        case "57P01", "57P02", "57P03", "57P05", "25006": .unreachable
        case let state where state.utf8.starts(with: "08".utf8): .unreachable
        // Cancelled by a timeout of ours.
        case "57014", "25P03": .busy
        case let state where state.utf8.starts(with: "53".utf8): .busy
        default: .broken(code: code)
        }
    }

    /// The same transaction again, from its beginning and over a sound connection, may succeed.
    var isMendedByRepetition: Bool {
        // It took too long, or a person has ended it: the next would take as long.
        if state == "57014" { return false }
        return switch failure {
        case .conflict, .busy, .unreachable: true
        default: false
        }
    }

    /// This connection is of no use any more although it may not be broken: after a failover an old primary only reads.
    var endsConnection: Bool { isLost || ["57P01", "57P02", "57P03", "57P05", "25P03", "25006"].contains(state) }

    /// The state as a number, digits in base 36.
    var code: Int32 {
        state.utf8.reduce(0) { number, character in
            let digit =
                character >= UInt8(ascii: "A")
                ? Int32(character) - Int32(UInt8(ascii: "A")) + 10
                : Int32(character) - Int32(UInt8(ascii: "0"))
            return number &* 36 &+ digit
        }
    }
}
