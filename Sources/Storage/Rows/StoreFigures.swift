/// How much a store holds.
package struct StoreFigures: Hashable, Sendable {
    package var transactions: Int
    package var evidence: Int
    /// As many were ever kept.
    package var submissions: Int
    package var pendingSubmissions: Int

    package init(transactions: Int = 0, evidence: Int = 0, submissions: Int = 0, pendingSubmissions: Int = 0) {
        self.transactions = transactions
        self.evidence = evidence
        self.submissions = submissions
        self.pendingSubmissions = pendingSubmissions
    }
}
