import Crypto
import PurchaseModel

/// A row of the audit log as it is kept.
package struct AuditRow: Hashable, Sendable {
    /// Its place in the listing: the column `sequence`.
    package let place: Int64
    package let action: AdminAction
    /// Its number in the chain, from 1; `nil` where it stands outside.
    package let number: Int64?
    /// Its link, 32 bytes; `nil` where it stands outside. What another hand wrote may have one of the two alone.
    package let link: [UInt8]?

    package init(place: Int64, action: AdminAction, number: Int64? = nil, link: [UInt8]? = nil) {
        self.place = place
        self.action = action
        self.number = number
        self.link = link
    }

    init(place: Int64, action: AdminAction, _ link: AuditLink?) {
        self.init(place: place, action: action, number: link?.number, link: link?.digest)
    }
}

/// What ties a row of the audit log to all rows before it. The newest one of all is the chain's head.
///
/// A link is the SHA-256 of these bytes, one after the other:
///
/// 1. The link of the row before, 32 bytes; before the first row the fold of the rows that are older than the chain.
/// 2. The row's number in the chain, its place in the listing, and its moment in milliseconds of Unix time: 8 bytes each, the
///    highest first.
/// 3. The account, the key, the address, the word, what it was done to, and the detail. For each a byte 0 where there is none;
///    else a byte 1, the length in bytes as 8 bytes, the highest first, and the text in UTF-8.
///
/// The fold is the same over the older rows, in the order of their places, with the number 0, from 32 bytes of 0. Refused
/// sign-ins are forgotten after a time, and stand outside.
package struct AuditLink: Hashable, Sendable {
    /// Of a link, in bytes.
    package static let length = 32
    /// What stands before everything.
    package static let start = [UInt8](repeating: 0, count: length)

    package let number: Int64
    /// ``length`` bytes.
    package let digest: [UInt8]

    package init(number: Int64, digest: [UInt8]) {
        self.number = number
        self.digest = digest
    }

    /// The next one of a chain.
    init(of action: AdminAction, at place: Int64, after head: AuditLink) {
        number = head.number &+ 1
        digest = Self.digest(after: head.digest, number: number, place, action)
    }

    /// A row's link.
    ///
    /// - Parameters:
    ///   - link: of the row before.
    ///   - number: in the chain; 0 of a row that is older than it.
    ///   - place: in the listing.
    ///   - action: what the row says.
    /// - Returns: ``length`` bytes.
    package static func digest(
        after link: [UInt8],
        number: Int64,
        _ place: Int64,
        _ action: AdminAction
    ) -> [UInt8] {
        digest(after: link, [number, place, action.at.milliseconds], action.texts)
    }

    static func digest(after link: [UInt8], _ numbers: [Int64], _ texts: [String?]) -> [UInt8] {
        var bytes = link
        for number in numbers { add(number, to: &bytes) }
        for text in texts {
            guard let text else {
                bytes.append(0)
                continue
            }
            bytes.append(1)
            add(Int64(text.utf8.count), to: &bytes)
            bytes.append(contentsOf: text.utf8)
        }
        return Digest.sha256(bytes)
    }

    private static func add(_ number: Int64, to bytes: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
    }
}

extension WalkPlace {
    /// In a walk along the chain of the audit log: after the link of this number.
    package static func afterLink(_ number: Int64) -> WalkPlace { WalkPlace(parts: [.integer(number)]) }
}

extension AdminAction {
    /// Whether it stands in the chain: whatever is never forgotten does.
    package var isChained: Bool { action != Self.signInRefused }

    /// In the order of ``AuditLink``.
    fileprivate var texts: [String?] { [admin?.text, key, remote, action, subject, detail] }
}
