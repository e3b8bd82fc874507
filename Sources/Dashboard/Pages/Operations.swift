import HTTP
import PurchaseModel
import Storage

/// How the server itself does.
struct Operations: Sendable {
    private static let deadShown = 50
    private static let certificatesShown = 50

    let store: any Store

    private struct Found: Sendable {
        let figures: StoreFigures
        let dead: DeadLetterPage
        let certificates: [SeenCertificate]
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let found = try await store.read { reader throws(StoreFailure) in
            Found(
                figures: try reader.figures(),
                dead: try reader.deadLetters(after: nil, limit: Self.deadShown),
                certificates: try reader.certificates()
            )
        }
        return Page("Operations", place: Address("/operations"), visit: visit) {
            dead(found.dead)
            certificates(found.certificates, at: visit.now)
            element("h2") { "Storage" }
            element("dl", .class("facts")) {
                Texts.fact("Transactions", Texts.count(found.figures.transactions))
                Texts.fact("Proofs", Texts.count(found.figures.evidence))
                Texts.fact("Submissions", Texts.count(found.figures.submissions))
                Texts.fact("Undecided", Texts.count(found.figures.pendingSubmissions))
            }
        }.response()
    }

    @HTMLBuilder private func dead(_ page: DeadLetterPage) -> HTML {
        element("h2") { "Jobs that were given up" }
        if page.jobs.isEmpty {
            element("p") { "None." }
        } else {
            Table("The first that were given up", ["Job", "Kind", "About", "Attempts", "Why"]) {
                for job in page.jobs {
                    element("tr") {
                        element("th", .word("scope", "row")) { job.id.text }
                        element("td") { job.job.kind }
                        element("td") { element("bdi") { job.job.key ?? "" } }
                        element("td") { String(job.attempt) }
                        element("td") { element("bdi") { Texts.cut(job.reason ?? "", to: 500) } }
                    }
                }
            }.html
        }
    }

    @HTMLBuilder private func certificates(_ rows: [SeenCertificate], at now: Timestamp) -> HTML {
        element("h2") { "Certificates" }
        if rows.isEmpty {
            element("p") { "No proof has come yet whose chain held." }
        } else {
            Table(
                "Of chains that held, the last that were first seen",
                ["Subject", "Role", "Vouched for by", "First seen", "Ends", "Serial"]
            ) {
                for row in rows.prefix(Self.certificatesShown) {
                    element("tr") {
                        element("th", .word("scope", "row")) { element("bdi") { Texts.cut(row.subject, to: 300) } }
                        element("td") { row.role }
                        element("td") { row.vouchedBy }
                        element("td") { Texts.moment(row.firstSeenAt) }
                        element("td") {
                            Texts.moment(row.notAfter)
                            if row.notAfter < now { " (has ended)" }
                        }
                        element("td") { Texts.cut(row.serial, to: 80) }
                    }
                }
            }.html
        }
    }
}
