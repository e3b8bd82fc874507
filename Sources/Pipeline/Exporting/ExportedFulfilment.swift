import Encoding
package import PurchaseModel

/// What a row of our own export says of what became of its transaction.
package struct ExportedFulfilment: Hashable, Sendable {
    package let outcome: ExportedOutcome
    /// Until when the books go of the chain in which its transaction stands; `nil` where the row does not say.
    package let booksUntil: Timestamp?

    /// The member under which it stands; of a table the columns begin with it and a full stop.
    static let name = "fulfilment"
    static let members = ["state", "reason", "fence", "imported", "of_history", "books_until"]
    static let columns = members.map { "\(name).\($0)" }

    package init(_ outcome: ExportedOutcome, booksUntil: Timestamp? = nil) {
        self.outcome = outcome
        self.booksUntil = booksUntil
    }

    /// `nil` where nothing stands there that a ledger of ours writes, as in exports of earlier versions.
    ///
    /// - Parameter text: what stands under a member.
    init?(_ text: (String) -> String?) {
        guard let state = text("state").flatMap({ FulfilmentState(rawValue: $0) }) else { return nil }
        outcome = ExportedOutcome(
            state,
            text("reason").flatMap { FulfilmentReason(rawValue: $0) },
            fence: text("fence").flatMap { Int64($0) } ?? 0,
            isImported: text("imported") == "true",
            isOfHistory: text("of_history") == "true"
        )
        booksUntil = text("books_until").flatMap { RFC3339.milliseconds($0) }.map(Timestamp.init(milliseconds:))
    }
}
