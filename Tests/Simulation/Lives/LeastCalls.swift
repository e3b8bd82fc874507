import PurchaseModel
import Simulator

/// The least that Apple must be asked so that nothing is known later than it may be, by somebody who knows what was lost.
///
/// Where notifications come: for what was lost in any stretch as long as news may take, one page of Apple's history for each
/// twenty. Where none come: one question about a subscription for each change of it but the one that its app told of.
struct LeastCalls {
    private static let page = 20

    private(set) var counts: [String: Int] = [:]

    init(_ book: TruthBook, _ messages: [NoticeMessage], isTold: Bool) {
        guard isTold else {
            counts["statuses"] = book.lines.values.reduce(0) { $0 + max(0, $1.changes - 1) }
            return
        }
        for store in [StoreEnvironment.production, .sandbox] {
            let lost = messages.filter { $0.isLost && $0.notice.environment == store }.map(\.notice.at).sorted()[...]
            counts["notification_history", default: 0] += Self.questions(lost)
        }
    }

    private static func questions(_ lost: ArraySlice<Timestamp>) -> Int {
        var (rest, count) = (lost, 0)
        while let first = rest.first {
            let together = rest.prefix { $0 <= first.advanced(by: KnowingTime.length) }
            count += (together.count + page - 1) / page
            rest = rest.dropFirst(together.count)
        }
        return count
    }
}
