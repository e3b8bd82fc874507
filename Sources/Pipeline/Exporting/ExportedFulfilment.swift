import PurchaseModel

/// What a row of our own export says of what became of its transaction.
enum ExportedFulfilment {
    /// The member under which it stands; of a table the columns begin with it and a full stop.
    static let name = "fulfilment"
    static let members = ["state", "reason", "fence", "imported"]
    static let columns = members.map { "\(name).\($0)" }

    /// - Parameter text: what stands under a member.
    /// - Returns: `nil` where that is nothing that a ledger of ours writes, as in exports of earlier versions.
    static func outcome(_ text: (String) -> String?) -> ExportedOutcome? {
        guard let state = text("state").flatMap({ FulfilmentState(rawValue: $0) }) else { return nil }
        return ExportedOutcome(
            state,
            text("reason").flatMap { FulfilmentReason(rawValue: $0) },
            fence: text("fence").flatMap { Int64($0) } ?? 0,
            isImported: text("imported") == "true"
        )
    }
}
