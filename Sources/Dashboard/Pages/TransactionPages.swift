import Encoding
import HTTP
import PurchaseModel
import Storage

/// Why a transaction was granted or not: everything that came in about it, in the order of time.
struct TransactionPages: Sendable {
    /// A report of a receipt with years of renewals is long; the page stays small.
    private static let reportBytesMax = 20_000
    private static let notificationsMax = 50

    let parts: DashboardParts

    private struct Found: Sendable {
        let recorded: RecordedTransaction
        let first: EvidenceRow?
        let latest: EvidenceRow?
        let fulfilment: Fulfilment?
        let owner: Owner?
        let timeline: TransactionTimeline
        let told: ToldEvents
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let app = AppID(visit.fields["app"]), let id = TransactionID(visit.fields["id"]) else {
            return Notices.notFound("transaction", visit)
        }
        let found = try await parts.store.read { reader throws(StoreFailure) in
            (
                rows: try reader.transactions(app: app, id: id).map { row throws(StoreFailure) in
                    try Self.around(row, reader)
                },
                refused: try RefusedProofs(of: .transaction(app, id), reader)
            )
        }
        guard !found.rows.isEmpty || !found.refused.samples.isEmpty else {
            return Notices.notFound("transaction", visit)
        }
        return Page("Transaction \(id)", visit: visit) {
            if found.rows.isEmpty { element("p") { "It is not recorded: only refused proofs claim it." } }
            for row in found.rows { section(row, visit) }
            found.refused.presentedByOthers.html("Presented by others, the newest first", parts)
            found.refused.refused.html("Refused proofs that claim it, the newest first", parts)
        }.response()
    }

    private static func around(
        _ recorded: RecordedTransaction,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> Found {
        let filter = NotificationFilter(original: recorded.chain.original, realms: [recorded.realm])
        let notifications = try reader.notifications(
            app: recorded.app,
            before: nil,
            where: filter,
            limit: notificationsMax
        )
        let fulfilment = try reader.fulfilments(of: [recorded])[recorded.key]
        let owner = try reader.owners([fulfilment?.chain ?? recorded.chain]).first
        let customer = owner?.customer ?? fulfilment?.customer
        let stream = StreamKey(app: recorded.app, realm: recorded.realm, customer: customer)
        let proofs = (first: try reader.evidence(of: recorded.key), latest: try reader.latestEvidence(of: recorded.key))
        return Found(
            recorded: recorded,
            first: proofs.first,
            latest: proofs.latest,
            fulfilment: fulfilment,
            owner: owner,
            timeline: try TransactionTimeline(
                recorded,
                proofs: proofs,
                fulfilment,
                owner,
                notifications.notifications,
                reader
            ),
            told: try ToldEvents(stream, about: recorded.key, reader)
        )
    }

    @HTMLBuilder private func section(_ found: Found, _ visit: Visit) -> HTML {
        element("h2") { "In \(Texts.realm(found.recorded.realm))" }
        element("p") {
            element("strong") { Self.given(found.fulfilment) }
            if let reason = found.fulfilment?.reason { ", because: \(reason.rawValue)" }
        }
        facts(found)
        OperatorLinks.list(visit, OperatorLinks.transaction(found.recorded.key, found.fulfilment, found.owner))
        found.timeline.html
        found.told.html(visit, Links.transaction(found.recorded.app, found.recorded.id))
        if let first = found.first { proof("What showed it first", first, found.recorded.key, visit) }
        if let latest = found.latest, latest.digest != found.first?.digest {
            proof("What changed it last", latest, found.recorded.key, visit)
        }
    }

    /// What was given for a transaction, in one line.
    static func given(_ fulfilment: Fulfilment?) -> String {
        guard let fulfilment else { return "Nothing was decided" }
        switch fulfilment.state {
        case .granted: return "Granted"
        case .partlyReversed: return "Granted, and \(Texts.part(fulfilment.reversed)) taken back"
        case .reversed: return "Granted, and taken back"
        default: return fulfilment.state.rawValue + (fulfilment.reason.map { ": \($0.rawValue)" } ?? "")
        }
    }

    private func facts(_ found: Found) -> HTML {
        let transaction = found.recorded.transaction
        return element("dl", .class("facts")) {
            Texts.fact("App", found.recorded.app.text)
            Texts.fact("Product", transaction.product.text)
            Texts.fact("Kind", transaction.kind?.rawValue)
            Texts.fact("Quantity", String(transaction.quantity))
            Texts.fact("Price", transaction.price.map(Texts.price))
            Texts.fact("Storefront", transaction.storefront)
            Texts.fact("Ownership", transaction.ownership?.rawValue)
            Texts.fact("Account token", transaction.accountToken?.description)
            if let original = transaction.originalID, original != transaction.id {
                element("dt") { "First of its chain" }
                element("dd") { Links.link(Links.transaction(found.recorded.app, original), original.description) }
            }
            if let customer = found.recorded.customer {
                element("dt") { "Presented by" }
                element("dd") { Links.link(Links.customer(found.recorded.app, customer), customer.text) }
            }
            if let owner = found.owner {
                element("dt") { "Belongs to" }
                element("dd") { Links.link(Links.customer(found.recorded.app, owner.customer), owner.customer.text) }
            }
            if let order = found.fulfilment?.order {
                element("dt") { "Pays order" }
                element("dd") {
                    Links.link(Links.order(found.recorded.app, order), order.text)
                    if let match = found.fulfilment?.match { ", matched by \(match.rawValue)" }
                }
            }
            Texts.fact("Expires", transaction.expiresAt)
            Texts.fact("Delivery", found.fulfilment?.delivery?.rawValue)
            for goods in found.fulfilment?.goodsByNow ?? [] { Texts.fact("Gives", Texts.goods(goods)) }
        }
    }

    private func proof(_ title: String, _ evidence: EvidenceRow, _ key: TransactionKey, _ visit: Visit) -> HTML {
        element("details") {
            element("summary") { "\(title): \(evidence.format), \(evidence.verdict)" }
            element("p", .class("quiet")) {
                "SHA-256 \(Hexadecimal.encode(evidence.digest.bytes)), \(Texts.count(evidence.proof.count)) bytes. What the "
                "verifier says of it today:"
            }
            element("pre", .word("tabindex", "0")) {
                Texts.cut(parts.explain(evidence.proof), to: Self.reportBytesMax)
            }
            ProofDownload.form(visit, key, evidence)
        }
    }

    // MARK: A submission that was kept

    func submission(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let bytes = Hexadecimal.decode(visit.fields["id"]), let id = SubmissionID(bytes) else {
            return Notices.notFound("submission", visit)
        }
        let found = try await parts.store.read { reader throws(StoreFailure) in try reader.submission(id) }
        guard let kept = found else { return Notices.notFound("submission", visit) }
        let submission = kept.submission
        return Page("Submission \(Hexadecimal.encode(id.bytes))", visit: visit) {
            element("dl", .class("facts")) {
                Texts.fact("App", submission.app.text)
                Texts.fact("Format", submission.format)
                Texts.fact("Not decided, because", submission.reason)
                Texts.fact("Received", submission.receivedAt)
                Texts.fact("Customer", submission.customer?.text)
                Texts.fact("Order", submission.order?.text)
                Texts.fact("Ended as", kept.settlement?.verdict ?? "waits")
                Texts.fact("Ended", kept.settlement?.at)
            }
            if kept.settlement == nil {
                OperatorLinks.list(visit, OperatorLinks.submission(Hexadecimal.encode(id.bytes)))
            }
            if submission.proof.isEmpty {
                element("p") { "The bytes are not kept once it is decided: what Apple said of them is." }
            } else {
                element("pre", .word("tabindex", "0")) {
                    Texts.cut(parts.explain(submission.proof), to: Self.reportBytesMax)
                }
                ProofDownload.form(visit, kept)
            }
        }.response()
    }
}
