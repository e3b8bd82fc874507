import HTTP
import Pipeline
import PurchaseModel
import Storage

/// One notification of Apple's as it came, and having it decided once more.
struct OneNotification: Sendable {
    private static let reportBytesMax = 20_000

    let parts: DashboardParts

    /// What stands above the page, after it was decided once more.
    private struct Note: Sendable {
        var refusal: Refusal?
        var sentence: String?
    }

    static func address(_ key: NotificationKey) -> Address {
        Address(
            "/notification",
            [
                (name: "app", value: key.app.text), (name: "side", value: Side.name(key.realm)),
                (name: "id", value: key.id.text),
            ]
        )
    }

    private func key(_ visit: Visit) -> NotificationKey? {
        guard let app = AppID(visit.fields["app"]), parts.apps.contains(app),
            let realm = Side.realm(visit.fields["side"]),
            let id = NotificationID(visit.fields["id"])
        else { return nil }
        return NotificationKey(app: app, realm: realm, id: id)
    }

    private func find(_ visit: Visit) async throws(StoreFailure) -> KeptNotification? {
        guard let key = key(visit) else { return nil }
        return try await parts.store.read { reader throws(StoreFailure) in try reader.notification(key) }
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let kept = try await find(visit) else { return Notices.notFound("notification", visit) }
        return page(kept, visit, Note())
    }

    private func page(_ kept: KeptNotification, _ visit: Visit, _ note: Note) -> HTTPResponse {
        Page("Notification \(kept.key.id.text)", place: Address("/notifications"), visit: visit) {
            Form.fault(note.refusal?.sentence)
            if let sentence = note.sentence { element("p", .class("said"), .word("role", "status")) { sentence } }
            facts(kept)
            if visit.may(.operator) { form(kept, visit) }
            element("h2") { "As it came" }
            element("p", .class("quiet")) {
                "\(Texts.count(kept.payload.count)) bytes. What the verifier says of them today:"
            }
            element("pre", .word("tabindex", "0")) {
                Texts.cut(parts.explain(kept.payload), to: Self.reportBytesMax)
            }
        }.response(note.refusal?.status ?? .ok)
    }

    private func facts(_ kept: KeptNotification) -> HTML {
        element("dl", .class("facts")) {
            Texts.fact("App", kept.key.app.text)
            Texts.fact("Store", Texts.realm(kept.key.realm))
            Texts.fact("Type", kept.type)
            Texts.fact("Subtype", kept.subtype)
            Texts.fact("Version", String(kept.version))
            if let id = kept.transaction ?? kept.original {
                element("dt") { "Transaction" }
                element("dd") { Links.link(Links.transaction(kept.key.app, id), id.description) }
            }
            Texts.fact("Signed", kept.signedAt)
            Texts.fact("Received", kept.receivedAt)
            Texts.fact("How it came", kept.arrival == .pushed ? "sent by Apple" : "fetched")
        }
    }

    @HTMLBuilder private func form(_ kept: KeptNotification, _ visit: Visit) -> HTML {
        element("h2") { "Decide it once more" }
        element("p", .class("quiet")) {
            "Its bytes are verified again, and its facts recorded as if they had come now. What is recorded already changes "
            "nothing, and what it told is not told twice."
        }
        visit.formOnce(Address("/notification/decide"), label: "Decide it once more") {
            Form.hidden("app", kept.key.app.text)
            Form.hidden("side", Side.name(kept.key.realm))
            Form.hidden("id", kept.key.id.text)
        }
    }

    func decide(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let kept = try await find(visit) else { return Notices.notFound("notification", visit) }
        guard let once = SentOnce(visit) else { return page(kept, visit, Note(refusal: .incomplete)) }
        guard let intake = parts.server.intake, let policy = parts.policy(kept.key.app) else {
            return page(kept, visit, Note(refusal: Refusal(.conflict, "This server takes in no notifications.")))
        }
        if let isSame = try await parts.store.read({ reader throws(StoreFailure) in try once.wasSent(reader) }) {
            return page(kept, visit, isSame ? Note(sentence: "It was decided once more.") : Note(refusal: .changed))
        }
        let action = visit.action("notification_decided_again", of: kept.key.id.text, kept.type)
        let decided = try await intake.decideAgain(kept, of: policy) { write throws(StoreFailure) in
            try write.noteAdminAction(action)
            try once.keep(at: visit.now, in: write)
        }
        return page(kept, visit, Self.note(decided))
    }

    private static func note(_ decided: DecidedAgain) -> Note {
        switch decided {
        case .decided(0): Note(sentence: "It was decided once more, and all was as it should be: nothing changed.")
        case .decided(let changes):
            Note(sentence: "It was decided once more, and \(Texts.count(changes)) rows of the ledger changed.")
        case .empty: Note(sentence: "It carries no transaction: there is nothing to decide.")
        case .refused(let word):
            Note(
                refusal: Refusal(
                    .unprocessableContent,
                    "Its bytes do not prove today what they proved: \(word). Nothing was changed."
                )
            )
        }
    }
}
