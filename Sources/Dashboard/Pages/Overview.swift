import HTTP
import PurchaseModel
import Storage

/// What there is, at a glance.
struct Overview: Sendable {
    let parts: DashboardParts

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let figures = try await parts.store.read { reader throws(StoreFailure) in try reader.figures() }
        return Page("Overview", place: Address(""), visit: visit) {
            element("dl", .class("figures")) {
                figure("Transactions recorded", figures.transactions)
                figure("Proofs kept", figures.evidence)
                figure("Submissions kept", figures.submissions)
                figure("Of them undecided", figures.pendingSubmissions)
            }
        }.response()
    }

    private func figure(_ name: String, _ count: Int) -> HTML {
        element("div") {
            element("dt") { name }
            element("dd") { Texts.count(count) }
        }
    }
}
