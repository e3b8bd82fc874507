import PurchaseModel
import Storage

/// Whose figures a page shows: one app on one side of the wall.
struct FigureScope: Sendable {
    let app: AppID
    let realm: Realm
    /// The sides of the wall on which anything was sold lately.
    let realms: [Realm]
    let apps: [AppID]
    /// Until when figures are shown: on the side of a demo's own store its time, which may be ahead.
    let now: Timestamp
    private let isAhead: Bool

    /// How far back it is looked for what was sold.
    private static let days: Int64 = 400

    /// What a request asks for; the first app, and the first side with anything on it, where it does not say.
    ///
    /// - Parameters:
    ///   - parts: which apps there are.
    ///   - visit: what is asked for, and when.
    ///   - ofStore: what time it is in the demo's own store, where there is one.
    ///   - reader: where the figures are.
    /// - Throws: `StoreFailure`.
    init?(
        _ parts: DashboardParts,
        _ visit: Visit,
        ofStore: Timestamp?,
        _ reader: any StoreReader
    ) throws(StoreFailure) {
        let wanted = AppID(visit.fields["app"]).flatMap { parts.apps.contains($0) ? $0 : nil }
        guard let app = wanted ?? parts.apps.first else { return nil }
        func now(in realm: Realm) -> Timestamp { realm.isTestSigned ? max(visit.now, ofStore ?? visit.now) : visit.now }
        var realms: [Realm] = []
        for realm in Realm.known {
            let today = DayOfTime(containing: now(in: realm))
            var found = 0
            for measure in [Measure.firstPurchases, .trials, .renewals] where found == 0 {
                let days = today.advanced(by: -Self.days)...today
                found = try reader.figures(FigureQuestion(app: app, realm: realm, measure: measure, days: days)).count
            }
            if found > 0 { realms.append(realm) }
        }
        let named = Side.realm(visit.fields["side"])
        self.app = app
        self.apps = parts.apps
        self.realms = realms
        realm = named ?? realms.first ?? Realm(environment: .production, isTestSigned: false)
        self.now = now(in: realm)
        isAhead = DayOfTime(containing: self.now) != DayOfTime(containing: visit.now)
    }

    func address(
        _ path: StaticString,
        app: AppID? = nil,
        realm: Realm? = nil,
        _ more: [(name: String, value: String?)] = []
    ) -> Address {
        Address(
            path,
            [
                (name: "app", value: (app ?? self.app).text),
                (name: "side", value: app == nil ? Side.name(realm ?? self.realm) : nil),
            ] + more
        )
    }

    /// Links to the other apps and sides.
    @HTMLBuilder func choice(_ path: StaticString) -> HTML {
        if apps.count > 1 {
            element("p") {
                "App: "
                for other in apps {
                    if other == app {
                        element("strong") { element("bdi") { other.text } }
                    } else {
                        Links.link(address(path, app: other), other.text)
                    }
                    " "
                }
            }
        }
        element("p") {
            "Store: "
            element("strong") { Texts.realm(realm) }
            for other in realms where other != realm {
                " · "
                element("a", .href(address(path, realm: other))) { Texts.realm(other) }
            }
        }
        if isAhead {
            element("p", .class("quiet")) {
                "The simulated store is ahead. Its days are shown, until "
                Texts.moment(now)
                "."
            }
        }
    }

    func question(_ name: ChartName, _ days: Int64, _ currency: String? = nil) -> ChartQuestion {
        let today = DayOfTime(containing: now)
        let span = name.reach == .future ? today...today.advanced(by: days - 1) : today.advanced(by: 1 - days)...today
        return ChartQuestion(name, app: app, realm: realm, days: span, currency: currency)
    }
}
