import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// The App Store simulator beside a demo: what time it is there, who bought what, and forms to have something happen.
struct SimulatorPage: Sendable {
    private static let customersShown = 50
    private static let transactionsShown = 25
    private static let productsShown = 100
    /// A name is whatever somebody typed.
    private static let nameShown = 200

    let parts: DashboardParts
    let line: SimulatorLine

    /// What stands above the page, after something was tried.
    struct Note: Sendable {
        var refusal: Refusal?
        var sentence: String?
    }

    func show(_ visit: Visit) async -> HTTPResponse { await page(visit, Note()) }

    func page(_ visit: Visit, _ note: Note) async -> HTTPResponse {
        guard let clock = await line.object("/clock"), let chaos = await line.object("/chaos"),
            let sold = await line.object("/catalogue")
        else {
            return Page("Simulator", place: Address("/simulator"), visit: visit) {
                Form.fault("The simulator does not answer.")
            }.response(.serviceUnavailable)
        }
        let customers = await line.object("/customers")?["customers"]?.array
        let name = visit.fields["customer"]
        let customer = name.isEmpty ? nil : await line.object("/customers/\(PercentCoding.encode(name))")
        let products = Self.products(sold)
        let isChaotic = Self.isOn(chaos)
        return Page("Simulator", place: Address("/simulator"), visit: visit) {
            Form.fault(note.refusal?.sentence)
            if let sentence = note.sentence { element("p", .class("said"), .word("role", "status")) { sentence } }
            element("p", .class("quiet")) {
                "An App Store of this demo's own. What it sells costs nobody anything, and it forgets all when it stops."
            }
            element("dl", .class("facts")) {
                Texts.fact("Its time", clock["now"]?.string)
                Texts.fact("The next thing happens", clock["next_event_at"]?.string)
                Texts.fact("Chaos", isChaotic ? "on: it fails as Apple does on a bad day" : "off")
            }
            names(customers.map { $0.compactMap { $0.object?["name"]?.string } } ?? [], name)
            if let customer { bought(customer, name) }
            if visit.may(.operator) { forms(visit, name, products, isChaotic) }
        }.response(note.refusal?.status ?? .ok)
    }

    private static func products(_ catalogue: JSONObject) -> [String] {
        let apps = catalogue["apps"]?.array.map { $0.compactMap(\.object) } ?? []
        let products = apps.flatMap { app in
            app["products"]?.array.map { $0.compactMap { $0.object?["id"]?.string } } ?? []
        }
        return Array(products.prefix(productsShown))
    }

    /// Whether any share of what goes wrong is more than none.
    static func isOn(_ chaos: JSONObject) -> Bool {
        SimulatorActions.chaos.contains { (chaos[$0.name]?.int64 ?? 0) > 0 }
    }

    @HTMLBuilder private func names(_ names: [String], _ shown: String) -> HTML {
        if !names.isEmpty {
            element("p") {
                "Customers: "
                for name in names.prefix(Self.customersShown) {
                    let address = Address("/simulator", [(name: "customer", value: name)])
                    if name.utf8.elementsEqual(shown.utf8) {
                        element("strong") { element("bdi") { Texts.cut(name, to: Self.nameShown) } }
                    } else if name.utf8.count <= Self.nameShown {
                        Links.link(address, name)
                    }
                    " "
                }
                if names.count > Self.customersShown { "and \(Texts.count(names.count - Self.customersShown)) more" }
            }
        }
    }

    private func bought(_ customer: JSONObject, _ name: String) -> HTML {
        let sold = customer["transactions"]?.array.map { $0.compactMap(\.object) } ?? []
        let title = "What \(Texts.cut(name, to: Self.nameShown)) bought last"
        return Table(title, ["Transaction", "Product", "Bought", "Expires", "Taken back"]) {
            for row in sold.suffix(Self.transactionsShown).reversed() {
                element("tr") {
                    element("th", .word("scope", "row")) { number(row) }
                    element("td") { element("bdi") { row["product"]?.string ?? "" } }
                    element("td") { row["purchased_at"]?.string ?? "" }
                    element("td") { row["expires_at"]?.string ?? "" }
                    element("td") { row["revocation"]?.object?["at"]?.string ?? "" }
                }
            }
        }.html
    }

    /// With a link to what the ledger knows of it.
    private func number(_ row: JSONObject) -> HTML {
        let text = row["transaction_id"]?.string ?? ""
        guard let id = TransactionID(text), let bundle = row["app"]?.string,
            let app = parts.policies.first(where: { $0.bundleID.text.utf8.elementsEqual(bundle.utf8) })?.id
        else { return HTML(text: text) }
        return Links.link(Links.transaction(app, id), text)
    }

    @HTMLBuilder private func forms(
        _ visit: Visit,
        _ name: String,
        _ products: [String],
        _ isChaotic: Bool
    ) -> HTML {
        element("h2") { "Something happens" }
        visit.formOnce(Address("/simulator/act"), label: "Do it") {
            Form.field("customer", "Customer", value: name.utf8.count <= 1_024 ? name : "")
            Form.choice("act", "What", SimulatorActions.acts.map { ($0.word, $0.label) })
            Form.choice(
                "product",
                "Product",
                [(value: "", text: "the newest that was bought")] + products.map { ($0, $0) }
            )
        }
        element("h2") { "Time passes" }
        visit.formOnce(Address("/simulator/clock"), label: "Let it pass") {
            Form.choice("span", "How much", SimulatorActions.spans)
        }
        element("h2") { "Chaos" }
        visit.formOnce(Address("/simulator/chaos"), label: isChaotic ? "Switch it off" : "Switch it on") {
            Form.hidden("on", isChaotic ? "false" : "true")
        }
    }
}
