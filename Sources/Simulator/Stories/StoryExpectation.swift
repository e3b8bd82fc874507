import Encoding
import PurchaseModel

/// What must have come of a story.
struct StoryExpectation: Sendable {
    /// `TYPE` or `TYPE/SUBTYPE`, all of them in order; nil expects nothing.
    let notifications: [String]?
    /// How many transactions each customer has.
    let transactions: [(customer: String, count: Int)]
    /// The status of each customer's newest subscription.
    let statuses: [(customer: String, word: String)]

    static let statusWords: [(word: String, status: SubscriptionLine.Status)] = [
        ("active", .active), ("expired", .expired), ("billing_retry", .billingRetry),
        ("grace_period", .gracePeriod), ("revoked", .revoked),
    ]

    static func word(for status: SubscriptionLine.Status) -> String {
        statusWords.first { $0.status == status }?.word ?? "\(status)"
    }

    init(_ value: JSONValue?) throws(StoryFault) {
        guard let value else {
            (notifications, transactions, statuses) = (nil, [], [])
            return
        }
        do throws(StoryFault) {
            var members = try StoryMembers(value)
            notifications = try members.texts("notifications")
            transactions = try StoryExpectation.counts(members.value("transactions"))
            statuses = try StoryExpectation.words(members.value("status"))
            try members.finish()
        } catch {
            throw error.inside("expect")
        }
    }

    private static func counts(_ value: JSONValue?) throws(StoryFault) -> [(customer: String, count: Int)] {
        guard let value else { return [] }
        guard let object = value.object else { throw StoryFault("transactions", "must be an object") }
        var counts: [(customer: String, count: Int)] = []
        for (name, value) in object.members {
            guard let count = value.int64 else { throw StoryFault("transactions.\(name)", "must be a whole number") }
            counts.append((name, Int(count)))
        }
        return counts
    }

    private static func words(_ value: JSONValue?) throws(StoryFault) -> [(customer: String, word: String)] {
        guard let value else { return [] }
        guard let object = value.object else { throw StoryFault("status", "must be an object") }
        var words: [(customer: String, word: String)] = []
        for (name, value) in object.members {
            guard let word = value.string, statusWords.contains(where: { $0.word == word }) else {
                throw StoryFault("status.\(name)", "must be a status of a subscription")
            }
            words.append((name, word))
        }
        return words
    }

    /// What is not as it must be, in sentences; empty when all is. What was there before is not counted.
    ///
    /// - Parameters:
    ///   - store: in which the story was told.
    ///   - before: the same store before it.
    ///   - app: whose customers are looked at.
    /// - Returns: one sentence for each difference.
    func differences(in store: SimulatedStore, since before: SimulatedStore, app: BundleID) -> [String] {
        var found: [String] = []
        if let notifications {
            let told = store.notices.dropFirst(before.notices.count).map { notice in
                [notice.type.rawValue, notice.subtype].compactMap(\.self).joined(separator: "/")
            }
            if told != notifications { found.append("notifications were \(told), not \(notifications)") }
        }
        for (customer, count) in transactions {
            let owner = SimulatedStore.Owner(customer: customer, app: app)
            let owned = store.transactions(of: owner).count - before.transactions(of: owner).count
            if owned != count { found.append("\(customer) has \(owned) transactions, not \(count)") }
        }
        for (customer, word) in statuses {
            let line = store.lines(of: SimulatedStore.Owner(customer: customer, app: app)).last
            let status = line.map { store.status(of: $0) }
            let actual = status.map(StoryExpectation.word) ?? "none"
            if actual != word { found.append("\(customer)'s subscription is \(actual), not \(word)") }
        }
        return found
    }
}
