import Foundation

/// The journal's lines, each one change as a JSON object: what makes it up, and what is made of it.
///
/// A line counts when it ends in a line feed and is whole. Of an object no beginning is one, so a line that was cut off is
/// known by that.
package enum JournalLine {
    private static let version: Int64 = 1

    private struct Members: Decodable {
        let kind: String
        let version: Int64?
        let id: String?
        let at: Int64?
        let body: String?
        let submission: String?
        let decision: String?
        let verdict: String?
        let reason: String?
    }

    /// What stands first in each file.
    static let header = line([("kind", .text("outbox")), ("version", .number(version))])

    static func bytes(_ change: Outbox.Change) -> [UInt8] {
        let id = JSONText.Member.text(change.id)
        switch change {
        case .queue(let parcel):
            return line([("kind", .text("queue")), ("id", id), ("at", moment(parcel.at)), ("body", .text(parcel.body))])
        case .wait(_, let submission):
            return line([("kind", .text("wait")), ("id", id), ("submission", .text(submission))])
        case .requeue:
            return line([("kind", .text("requeue")), ("id", id)])
        case .confirm(_, let confirmation):
            let decision = confirmation.decision.map { JSONText.Member.text($0.rawValue) }
            return line([
                ("kind", .text("confirm")), ("id", id), ("at", moment(confirmation.at)), ("decision", decision),
            ])
        case .refuse(_, let refusal):
            return line([
                ("kind", .text("refuse")), ("id", id), ("at", moment(refusal.at)),
                ("verdict", .text(refusal.verdict)), ("reason", .text(refusal.reason)),
            ])
        case .forget:
            return line([("kind", .text("forget")), ("id", id)])
        }
    }

    /// What a file's bytes lead to.
    struct Content {
        var outbox = Outbox()
        /// Lines that are none, the last one that was cut off not among them.
        var damaged = 0
        /// Whether more may be written behind the bytes as they are.
        var isSound = false
    }

    static func read(_ bytes: [UInt8]) throws(OutboxFault) -> Content {
        var content = Content()
        var rest = bytes[...]
        var isFirst = true
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let members = try? JSONDecoder().decode(Members.self, from: Data(rest[..<end]))
            rest = rest[(end + 1)...]
            if let version = members?.version, version > Self.version { throw .newer }
            if isFirst, members?.kind == "outbox" {
                content.isSound = true
            } else if let change = members.flatMap(change) {
                content.outbox.apply(change)
            } else {
                content.damaged += 1
            }
            isFirst = false
        }
        content.isSound = content.isSound && content.damaged == 0 && rest.isEmpty
        return content
    }

    private static func change(_ members: Members) -> Outbox.Change? {
        guard let id = members.id else { return nil }
        let at = members.at.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
        switch members.kind {
        case "queue":
            guard let body = members.body, let at else { return nil }
            return Parcel(id: id, body: body, at: at).map { .queue($0) }
        case "wait": return members.submission.map { .wait(id: id, submission: $0) }
        case "requeue": return .requeue(id: id)
        case "confirm":
            let decision = members.decision.map { Decision(rawValue: $0) }
            return at.map { .confirm(id: id, Confirmation(decision: decision, at: $0)) }
        case "refuse":
            guard let verdict = members.verdict, let reason = members.reason, let at else { return nil }
            return .refuse(id: id, Refusal(verdict: verdict, reason: reason, at: at))
        case "forget": return .forget(id: id)
        default: return nil
        }
    }

    private static func line(_ members: [(String, JSONText.Member?)]) -> [UInt8] {
        Array(JSONText.object(members).utf8) + [UInt8(ascii: "\n")]
    }

    /// In milliseconds, since 1970.
    private static func moment(_ date: Date) -> JSONText.Member {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        return .number(Int64(exactly: milliseconds) ?? 0)
    }
}
