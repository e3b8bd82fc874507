import Encoding
package import PurchaseModel
package import Storage
package import Verification

/// What became of one row.
package struct ImportOutcome: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Something of it was unknown, and is recorded now.
        case recorded
        case known
        /// Apple decides, by and by.
        case asked
        /// Genuine, and no purchase.
        case nothing
        case refused
        /// It is no row of an import.
        case invalid

        /// Whether it was taken: something is, or will be, in the ledger for it.
        var isTaken: Bool { [.recorded, .known, .asked].contains(self) }
    }

    package var line: Int64
    /// Of a row that is invalid, and has taken several lines.
    package var lastLine: Int64?
    package var kind: Kind
    package var format: ProofFormat?
    package var verdict: Verdict?
    /// A word of `docs/verdicts.md`, of ``ImportRowFault``, `owned_by_another_customer` or `no_customer`.
    package var reason: String?
    package var transactions: [TransactionID] = []
    package var submission: SubmissionID?

    init(line: Int64, _ kind: Kind, format: ProofFormat? = nil, verdict: Verdict? = nil, reason: String? = nil) {
        self.line = line
        self.kind = kind
        self.format = format
        self.verdict = verdict
        self.reason = reason
    }

    /// Whether it is passed over as bought from somebody else than Apple.
    var isOfOtherStore: Bool { kind == .nothing && reason == ImportRowFault.otherStore.rawValue }
}

extension ImportCounts {
    mutating func add(_ outcome: ImportOutcome) {
        if outcome.isOfOtherStore { otherStore += 1 }
        switch outcome.kind {
        case .recorded: recorded += 1
        case .known: known += 1
        case .asked: asked += 1
        case .nothing: nothing += 1
        case .refused: refused += 1
        case .invalid: invalid += 1
        }
    }
}

/// The report: one line for each row of the source, as it was decided.
package enum ImportReport: Hashable, Sendable {
    case jsonLines
    case csv

    /// What stands before the first row.
    package var head: [UInt8] {
        switch self {
        case .jsonLines: []
        case .csv: Array("line,outcome,verdict,reason,transaction_ids,submission_id,last_line\n".utf8)
        }
    }

    package func lines(of outcomes: [ImportOutcome]) -> [UInt8] {
        var lines: [UInt8] = []
        for outcome in outcomes {
            lines += line(of: outcome)
            lines.append(0x0A)
        }
        return lines
    }

    private func line(of outcome: ImportOutcome) -> [UInt8] {
        let submission = outcome.submission.map { Hexadecimal.encode($0.bytes) }
        switch self {
        case .jsonLines:
            return JSONWriter.object { json in
                json.member("line", outcome.line)
                json.member("last_line", outcome.lastLine)
                json.member("outcome", outcome.kind.rawValue)
                json.member("format", outcome.format?.rawValue)
                json.member("verdict", outcome.verdict?.rawValue)
                json.member("reason", outcome.reason)
                if !outcome.transactions.isEmpty {
                    json.array("transaction_ids") { json in
                        for id in outcome.transactions { json.element(id.description) }
                    }
                }
                json.member("submission_id", submission)
            }
        case .csv:
            // Words of ours and digits: nothing needs quotes.
            let fields = [
                String(outcome.line), outcome.kind.rawValue, outcome.verdict?.rawValue ?? "", outcome.reason ?? "",
                outcome.transactions.map(\.description).joined(separator: " "), submission ?? "",
                outcome.lastLine.map(String.init) ?? "",
            ]
            return Array(fields.joined(separator: ",").utf8)
        }
    }
}
