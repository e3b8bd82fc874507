import PurchaseModel

/// A kept answer as a memory store holds it.
struct MemoryAnswer: Sendable {
    var answer: KeptAnswer
    /// Its place among all that were ever kept.
    var sequence: Int64
}

extension MemoryTransaction {
    func keptAnswer(_ name: IdempotencyName) -> KeptAnswer? { ledger.answers[name]?.answer }

    func keepAnswer(_ answer: KeptAnswer) throws(StoreFailure) {
        guard answer.isStorable else { throw .unstorable }
        guard ledger.answers[answer.name] == nil else { throw conflict() }
        put(ledger.answersAdded + 1, at: \.answersAdded)
        put(MemoryAnswer(answer: answer, sequence: ledger.answersAdded), at: \.answers[answer.name])
    }

    func sweepAnswers(olderThan age: Duration, at now: Timestamp, limit: Int) -> Int {
        let (earliest, latest) = (now.advanced(by: .zero - age), now.advanced(by: age))
        let first = ledger.answers.values.sorted { $0.sequence < $1.sequence }.prefix(max(limit, 0))
        let old = first.filter { $0.answer.keptAt < earliest || $0.answer.keptAt > latest }
        for kept in old { put(nil, at: \.answers[kept.answer.name]) }
        return old.count
    }
}
