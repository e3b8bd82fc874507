package import PurchaseModel

/// The name of something that a person had Apple asked.
package struct SupportRequestID: PrefixedID, ListedID {
    package static let prefix = "ask_"
    package let text: String
    package init(checked text: String) { self.text = text }

    package static func < (left: SupportRequestID, right: SupportRequestID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// Something that a person had Apple asked, or told, and what came of it.
package struct SupportRequest: Hashable, Sendable {
    /// Where it stands. Stable words of the API.
    package enum State: String, Hashable, Sendable, CaseIterable {
        case waiting
        case done
        /// Apple has said no, or what was asked cannot be.
        case failed
    }

    /// The longest question and the longest answer.
    package static let bytesMax = 65_536

    package let app: AppID
    package let id: SupportRequestID
    /// What is asked: a word of ours.
    package let kind: String
    /// The name of the key with which it was asked.
    package let askedBy: String
    package let askedAt: Timestamp
    /// A JSON object of ours.
    package let question: [UInt8]
    package var state: State
    /// A JSON object of ours: also what is known by now of one that goes on.
    package var answer: [UInt8]?
    package var settledAt: Timestamp?
    /// Counts the changes; 1 for the first.
    package var version: Int64

    package init(
        app: AppID,
        id: SupportRequestID,
        kind: String,
        askedBy: String,
        askedAt: Timestamp,
        question: [UInt8],
        state: State = .waiting,
        answer: [UInt8]? = nil,
        settledAt: Timestamp? = nil,
        version: Int64 = 1
    ) {
        self.app = app
        self.id = id
        self.kind = kind
        self.askedBy = askedBy
        self.askedAt = askedAt
        self.question = question
        self.state = state
        self.answer = answer
        self.settledAt = settledAt
        self.version = version
    }

    var cursor: SupportCursor { SupportCursor(askedAt, id) }

    var isStorable: Bool {
        StorableText.isWord(kind) && StorableText.isStorable(askedBy) && question.count <= Self.bytesMax
            && answer?.count ?? 0 <= Self.bytesMax
    }
}

/// A place in the listing of an app's support requests.
package typealias SupportCursor = TimeCursor<SupportRequestID>

/// Some of an app's support requests, the newest first.
package struct SupportPage: Hashable, Sendable {
    /// The most that one page holds.
    package static let limitMax = 100

    package var requests: [SupportRequest]
    /// `nil` when there are no more.
    package var next: SupportCursor?

    package init(requests: [SupportRequest] = [], next: SupportCursor? = nil) {
        self.requests = requests
        self.next = next
    }
}
