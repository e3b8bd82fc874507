import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// What an operator can have done with an endpoint.
struct EndpointForms {
    let visit: Visit
    let endpoint: WebhookEndpoint

    @HTMLBuilder var html: HTML {
        element("h2") { "What can be done" }
        element("div", .class("acts")) {
            form("/webhook/test", "Send a test message")
            form("/webhook/enable", endpoint.isEnabled ? "Disable it" : "Enable it") {
                Form.hidden("enabled", endpoint.isEnabled ? "false" : "true")
            }
            if let missed = MissedEvents(of: endpoint) {
                form("/webhook/replay", "Send what it missed") {
                    ReplayForm(what: .learned(from: missed.from, to: missed.to), after: missed.after).hidden
                }
                form("/webhook/missed", "Put aside what it missed")
            }
            form("/webhook/rotate", "Have a new secret sign, too")
            if endpoint.secrets.count > 1 {
                form("/webhook/rotate", "Have only the newest secret sign") { Form.hidden("keep", "1") }
            }
            form("/webhook/replay", "Send all failed ones again") { ReplayForm(what: .dead, after: .start).hidden }
        }
        element("details") {
            element("summary") { "Send again what was learned of in some time" }
            form("/webhook/replay", "Send these again") {
                Form.hidden("what", "range")
                Form.field("from", "From (UTC)", type: "datetime-local")
                Form.field("to", "Until (UTC)", type: "datetime-local")
            }
        }
    }

    private func form(
        _ path: StaticString,
        _ label: String,
        @HTMLBuilder content: () -> HTML = { HTML() }
    ) -> HTML {
        visit.formOnce(Address(path), label: label) {
            Form.hidden("id", endpoint.id.text)
            Form.hidden("version", String(endpoint.version))
            content()
        }
    }
}

/// A replay of many as a form carries it: what, and from where on.
struct ReplayForm: Sendable {
    let what: WebhookReplay
    let after: EventCursor

    init(what: WebhookReplay, after: EventCursor) {
        self.what = what
        self.after = after
    }

    init(_ fields: FormFields) throws(Refusal) {
        let place = fields["cursor"]
        guard let position = place.isEmpty ? 0 : Int64(place), position >= 0 else { throw .incomplete }
        after = EventCursor(position: position)
        switch fields["what"] {
        case "dead": what = .dead
        case "range":
            let (from, to) = (try Self.moment(fields["from"]), try Self.moment(fields["to"]))
            guard from < to else { throw Refusal(.unprocessableContent, "The time ends before it begins.") }
            what = .learned(from: from, to: to)
        default: throw .incomplete
        }
    }

    private static func moment(_ text: String) throws(Refusal) -> Timestamp {
        guard let moment = Form.moment(text) else {
            throw Refusal(.unprocessableContent, "Both moments are needed, such as 2026-02-28T12:00.")
        }
        return moment
    }

    /// The word for the log.
    var detail: String {
        what.period.map { "\(Self.text($0.from)) to \(Self.text($0.to))" } ?? "all that failed"
    }

    @HTMLBuilder var hidden: HTML {
        if let period = what.period {
            Form.hidden("what", "range")
            Form.hidden("from", Self.text(period.from))
            Form.hidden("to", Self.text(period.to))
        } else {
            Form.hidden("what", "dead")
        }
        if after.position > 0 { Form.hidden("cursor", String(after.position)) }
    }

    private static func text(_ moment: Timestamp) -> String { RFC3339.text(milliseconds: moment.milliseconds) ?? "" }
}
