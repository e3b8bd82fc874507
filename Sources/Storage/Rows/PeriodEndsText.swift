import PurchaseModel

/// What Apple has said of the ends of a subscription's periods, as a text in a row: a line for each, words with a space
/// between them.
///
/// `1763600000000 failed 1764000000000 1764900000000`: the end, that its renewal failed, when the grace ended, when Apple
/// signed that the subscription was over; `ended` for one that did not fail, and `-` for a moment that there is none of.
/// `1763600000000 moved 2000000950100001 -`: when and under which original transaction Apple goes on with it.
/// `1763600000000 continues 2000000950100000 -`: which one it goes on from, and when the period began that was paid for there.
enum PeriodEndsText {
    /// `nil` where nothing was said: so of most.
    static func text(of ends: PeriodEnds) -> String? {
        if ends.isEmpty { return nil }
        var lines = ends.ends.map { end in
            let kind = end.isFailed ? "failed" : "ended"
            return "\(end.at.milliseconds) \(kind) \(text(of: end.graceEndsAt)) \(text(of: end.overAt))"
        }
        if let move = ends.move { lines.append("\(move.at.milliseconds) moved \(move.to) -") }
        if let origin = ends.origin { lines.append("\(text(of: origin.repeated)) continues \(origin.from) -") }
        return lines.joined(separator: "\n")
    }

    /// `nil` for a text that we did not write.
    static func ends(in text: String) -> PeriodEnds? {
        var (ends, move, origin): ([PeriodEnds.End], PeriodEnds.Move?, PeriodEnds.Origin?) = ([], nil, nil)
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 4 else { return nil }
            if words[1] == "moved" || words[1] == "continues" {
                guard let chain = TransactionID(words[2]), let at = optional(words[0]) else { return nil }
                if words[1] == "continues" {
                    origin = PeriodEnds.Origin(from: chain, repeated: at)
                } else {
                    guard let at else { return nil }
                    move = PeriodEnds.Move(to: chain, at: at)
                }
                continue
            }
            guard let end = moment(words[0]), let grace = optional(words[2]), let over = optional(words[3]) else {
                return nil
            }
            switch words[1] {
            case "failed": ends.append(PeriodEnds.End(at: end, isFailed: true, graceEndsAt: grace, overAt: over))
            case "ended": ends.append(PeriodEnds.End(at: end, isFailed: false, graceEndsAt: grace, overAt: over))
            default: return nil
            }
        }
        var found = PeriodEnds(ends)
        (found.move, found.origin) = (move, origin)
        return found
    }

    private static func text(of moment: Timestamp?) -> String { moment.map { String($0.milliseconds) } ?? "-" }

    private static func moment(_ word: String) -> Timestamp? { Int64(word).map(Timestamp.init(milliseconds:)) }

    /// Twice optional: there is none, or it cannot be read.
    private static func optional(_ word: String) -> Timestamp?? {
        if word == "-" { return .some(nil) }
        return moment(word).map(Optional.some)
    }
}
