import PurchaseModel

/// Which of the configured apps a page is about.
enum AppChoice {
    /// What a request asks for; the first one where it does not say.
    static func app(_ visit: Visit, _ parts: DashboardParts) -> AppID? {
        AppID(visit.fields["app"]).flatMap { parts.apps.contains($0) ? $0 : nil } ?? parts.apps.first
    }

    /// Links to the other ones.
    @HTMLBuilder static func links(_ path: StaticString, _ shown: AppID, _ parts: DashboardParts) -> HTML {
        if parts.apps.count > 1 {
            element("p") {
                "App: "
                for app in parts.apps {
                    if app == shown {
                        element("strong") { element("bdi") { app.text } }
                    } else {
                        Links.link(Address(path, [(name: "app", value: app.text)]), app.text)
                    }
                    " "
                }
            }
        }
    }
}
