import Encoding
import Pipeline
import PurchaseModel
import Storage
import Verification

/// What an import says: for people, and with `--json` one object on one line.
enum ImportText {
    static func text(
        _ progress: ImportProgress,
        _ path: String,
        into place: LedgerPlace,
        isJSON: Bool,
        askingFor last: Duration
    ) -> String {
        let counts = progress.counts
        let rows: [(String, Int64)] = [
            ("recorded", counts.recorded), ("known", counts.known), ("asked", counts.asked),
            ("nothing", counts.nothing), ("refused", counts.refused), ("invalid", counts.invalid),
        ]
        if isJSON {
            return line { json in
                json.member("source", path)
                json.member("rows", counts.rows)
                for (name, count) in rows { json.member(name, count) }
                json.member("other_store", counts.otherStore)
                json.member("without_customer", counts.withoutCustomer)
            }
        }
        let into = ReportText.printable(place.shown)
        var text = "\(ReportText.printable(path)): \(counts.rows) rows into \(into)\n" + columns(rows)
        text += elsewhere(counts.otherStore) + owning(counts.withoutCustomer)
        if counts.asked > 0 { text += asking(counts.asked, within: last) }
        return text
    }

    /// Of a source that was read to its end before: what is done about it now.
    ///
    /// - Parameters:
    ///   - progress: of before.
    ///   - refused: how many of its rows Apple has refused since, if all were taken.
    ///   - path: of the source.
    /// - Returns: the sentence.
    static func ofOneReadBefore(_ progress: ImportProgress, _ refused: Int64, _ path: String) -> String {
        let (counts, rows) = (progress.counts, progress.counts.rows)
        let (faulty, empty) = (counts.refused + counts.invalid, counts.nothing - counts.otherStore)
        let what =
            switch (faulty, empty, refused) {
            case (0, 0, 0): "every row was taken; no row is taken again"
            case (0, 0, _): "\(refused) of \(rows) rows were refused by Apple since"
            case (0, _, _): "\(empty) of \(rows) rows had no purchase"
            case (_, 0, _): "\(faulty) of \(rows) rows were refused or invalid"
            default: "of \(rows) rows \(faulty) were refused or invalid, and \(empty) had no purchase"
            }
        let again = counts.untaken == 0 && refused == 0 ? "" : "; it is read again from its first row"
        return "\(ReportText.printable(path)) was read to its end before, and \(what)\(again)"
    }

    static func text(
        _ plan: ImportPlan,
        comparedWith place: LedgerPlace?,
        isJSON: Bool,
        askingFor last: Duration
    ) -> String {
        let rows: [(String, Int64)] = [
            ("genuine", plan.genuine), ("known", plan.known), ("need_apple", plan.needApple),
            ("repeated", plan.repeated), ("nothing", plan.nothing),
        ]
        let (refused, invalid) = (sorted(plan.refused), sorted(plan.invalid))
        if isJSON {
            return line { json in
                json.member("rows", plan.rows)
                for (name, count) in rows { json.member(name, count) }
                json.object("refused") { json in for (name, count) in refused { json.member(name, count) } }
                json.object("invalid") { json in for (name, count) in invalid { json.member(name, count) } }
                json.member("other_store", plan.otherStore)
                json.member("without_customer", plan.withoutCustomer)
                json.member("apple_calls_max", 2 * plan.needApple)
                json.member("apple_seconds", plan.needApple > 0 ? last.components.seconds : 0)
                json.member("has_ledger", place != nil)
            }
        }
        let compared = place.map { ", compared with \(ReportText.printable($0.shown))" } ?? ""
        var text = "\(plan.rows) rows\(compared); nothing was written\n" + columns(rows)
        text += columns(refused.map { ("refused, " + $0.0, $0.1) } + invalid.map { ("invalid, " + $0.0, $0.1) })
        for fault in plan.faults {
            let place = fault.lastLine.map { "lines \(fault.line) to \($0)" } ?? "line \(fault.line)"
            text += "  \(place): \(fault.verdict?.rawValue ?? "invalid"), \(fault.reason ?? "")\n"
        }
        text += elsewhere(plan.otherStore) + owning(plan.withoutCustomer)
        if place == nil { text += "  there is no ledger yet, so nothing counts as known\n" }
        if plan.needApple > 0 { text += asking(plan.needApple, within: last) }
        return text
    }

    private static func elsewhere(_ count: Int64) -> String {
        count == 0 ? "" : "  \(count) of them were bought in other stores than Apple's, and are passed over\n"
    }

    private static func owning(_ count: Int64) -> String {
        count == 0 ? "" : "  \(count) of them name no customer: theirs is nobody's until somebody presents it\n"
    }

    private static func asking(_ count: Int64, within last: Duration) -> String {
        let seconds = last.components.seconds
        return """
              Apple is asked \(count) to \(2 * count) times by the servers of this ledger, within \(seconds / 3_600) h \
            \(seconds / 60 % 60) min \(seconds % 60) s

            """
    }

    private static func sorted(_ counts: [String: Int64]) -> [(String, Int64)] {
        counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func columns(_ rows: [(String, Int64)]) -> String {
        rows.map { name, count in
            "  " + name + String(repeating: " ", count: max(1, 12 - name.utf8.count)) + "\(count)\n"
        }.joined()
    }

    private static func line(_ body: (inout JSONObjectWriter) -> Void) -> String {
        String(decoding: ReportJSON.showable(JSONWriter.object(body)), as: UTF8.self) + "\n"
    }
}
