import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

@testable import Server

/// What the operator's tools count of the ledger.
@Suite struct ReporterTests {
    /// Each row: why a commit came to nothing, and under which result that counts: the alert goes by those that failed.
    @Test(arguments: [(StoreFailure.conflict, "conflict"), (.full, "failed"), (.busy, "failed")])
    func aConflictIsNoFailure(failure: StoreFailure, result: String) {
        let (metrics, log) = (Metrics(), Log(clock: ManualClock(Timestamp(seconds: 0))))
        defer { log.finish() }
        Reporter(log: log, metrics: metrics).report(PipelineEvent.commitFailed(submissions: 2, failure: failure))
        let commits = Exposition(metrics.text()).values.filter { $0.key.hasPrefix("assay_commits") && $0.value > 0 }
        #expect(commits == ["assay_commits_total{result=\"\(result)\"}": 1])
    }
}
