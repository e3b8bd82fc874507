import Encoding
package import PurchaseModel

/// A story as data: who does what and when, and what must have come of it. Its language is described in
/// `docs/stories.md`; `Examples/stories` has one for everything that Apple tells.
package struct Story: Sendable {
    package let name: String
    package let about: String
    package let startsAt: Timestamp
    package let seed: UInt64
    package let customers: [StoreCustomer]
    /// Whether the app gives billing grace, and for how long; nil leaves the catalogue's.
    let gracePeriod: GracePeriod??
    /// Where the app's notifications go; nil leaves the catalogue's.
    let notificationsURL: String?
    let steps: [Step]
    let endsAt: StorySpan?
    let expectation: StoryExpectation

    struct Step: Sendable {
        /// Since the beginning.
        let after: StorySpan?
        let value: JSONValue
        /// The word of the refusal that must come.
        let refusal: String?
    }

    /// 2026-01-01T00:00:00Z.
    private static let usualStart = Timestamp(seconds: 1_767_225_600)

    /// Reads a story strictly: an unknown member, an act that there is not, or steps out of order are faults.
    package init(_ bytes: [UInt8]) throws(StoryFault) {
        let document: JSONDocument
        do throws(JSONFault) { document = try JSONDocument(bytes) } catch { throw StoryFault("", "\(error)") }
        var members = try StoryMembers(document.root)
        name = try members.required("name", members.text("name"))
        about = try members.text("about") ?? ""
        startsAt = try members.moment("starts") ?? Story.usualStart
        seed = UInt64(try members.number("seed", 0...Int64.max) ?? 1)
        customers = try Story.customers(members.required("customers", members.elements("customers")))
        gracePeriod = try Story.gracePeriod(&members)
        notificationsURL = try members.url("notifications_url")
        steps = try Story.steps(members.required("steps", members.elements("steps")))
        endsAt = try members.made("ends", "a distance like P1Y") { StorySpan($0) }
        expectation = try StoryExpectation(members.value("expect"))
        try members.finish()
    }

    private static func gracePeriod(_ members: inout StoryMembers) throws(StoryFault) -> GracePeriod?? {
        guard let days = try members.number("grace_period_days", 0...28) else { return nil }
        return .some(days == 0 ? nil : GracePeriod(days: Int(days)))
    }

    private static func customers(_ values: [JSONValue]) throws(StoryFault) -> [StoreCustomer] {
        var customers: [StoreCustomer] = []
        for (index, value) in values.enumerated() {
            do throws(StoryFault) {
                customers.append(try customer(value))
            } catch {
                throw error.inside("customers[\(index)]")
            }
        }
        return customers
    }

    /// A customer as stories and the control API describe one.
    static func customer(_ value: JSONValue) throws(StoryFault) -> StoreCustomer {
        var members = try StoryMembers(value)
        let name = try members.required("name", members.text("name"))
        guard (1...100).contains(name.utf8.count) else { throw StoryFault("name", "must have 1 to 100 bytes") }
        // What cannot stand in a path could never be asked for again.
        guard name != ".", name != "..", name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw StoryFault("name", "must not be . or .. and has no control characters")
        }
        let rate = try members.made("pace", "real, testflight or sandbox_3, _5, _15, _30 or _60", TimeRate.init(word:))
        var customer = StoreCustomer(name: name, environment: try members.environment() ?? .production, rate: rate)
        let storefront = try members.made("storefront", "a country of which there is a storefront, like USA") {
            Storefront.of(country: $0)
        }
        customer.storefront = storefront ?? .unitedStates
        customer.asksToBuy = try members.flag("asks_to_buy") ?? false
        customer.canPay = try members.flag("can_pay") ?? true
        customer.family = try members.text("family")
        try members.finish()
        return customer
    }

    private static func steps(_ values: [JSONValue]) throws(StoryFault) -> [Step] {
        var steps: [Step] = []
        for (index, value) in values.enumerated() {
            do throws(StoryFault) {
                guard let object = value.object else { throw StoryFault("", "must be an object") }
                let after = object["after"]?.string
                let span = after.flatMap { StorySpan($0) }
                if object["after"] != nil, span == nil { throw StoryFault("after", "must be a distance like P3D") }
                let refusal = object["refused"]
                if let refusal, refusal.string.flatMap(ActRefusal.init(rawValue:)) == nil {
                    throw StoryFault("refused", "must be the word of a refusal")
                }
                steps.append(Step(after: span, value: value, refusal: refusal?.string))
            } catch {
                throw error.inside("steps[\(index)]")
            }
        }
        return steps
    }
}

extension TimeRate {
    /// As stories and the control API name it.
    package init?(word: String) {
        switch word {
        case "real": self = .real
        case "testflight": self = .testFlight
        default:
            guard let minutes = TimeRate.sandboxMinutes.first(where: { word == "sandbox_\($0)" }) else { return nil }
            self = .sandbox(minutesPerMonth: minutes)
        }
    }

    package var word: String {
        switch self {
        case .real: "real"
        case .testFlight: "testflight"
        case .sandbox(let minutes): "sandbox_\(minutes)"
        }
    }
}
