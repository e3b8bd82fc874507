/// What goes out of the ledger: webhooks from the commit to the shop, and jobs from the queue. The store is SQLite, and
/// PostgreSQL as well when `ASSAY_TEST_POSTGRES` names a server.
struct OutboxBenchmark {
    /// For databases, each made and removed.
    let folder: String

    func run() async throws -> [Section] {
        var (queue, sending): ([Section.Row], [Section.Row]) = ([], [])
        for kind in StoreChoice.available {
            queue += try await JobBenchmark(folder: folder).run(kind)
            sending += try await WebhookBenchmark(folder: folder).rows(kind)
        }
        return [
            Section(
                "Jobs claimed with a lease and finished",
                columns: ["jobs/s", "plain, jobs/s", "% of it"],
                rows: queue,
                goal: "50,000 jobs a second at 100 in a claim"
            ),
            Section(
                "Webhooks to a shop that answers at once",
                columns: WebhookBenchmark.columns,
                rows: sending,
                goal: "from the commit to the shop: known"
            ),
        ]
    }
}
