import HTTP
import Storage

/// What stands around every page, and the header fields under which it is sent.
struct Page {
    /// Whom the page is for; `nil` when nobody is signed in.
    var visit: Visit?
    let title: String
    /// The place in the navigation.
    var place: Address?
    let content: HTML

    init(_ title: String, place: Address? = nil, visit: Visit?, @HTMLBuilder content: () -> HTML) {
        self.title = title
        self.place = place
        self.visit = visit
        self.content = content()
    }

    /// Nothing from elsewhere, no script in the page, no style in it, no frame around it.
    static let policy = """
        default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; \
        frame-ancestors 'none'
        """

    /// What every answer of the dashboard carries.
    static func fields(_ type: String) -> HTTPFields {
        [
            "Content-Type": type,
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            // Not no-referrer: browsers would then send forms with `Origin: null`, and that is how others' forms come.
            "Referrer-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        ]
    }

    func response(_ status: HTTPStatus = .ok) -> HTTPResponse {
        HTTPResponse(status, fields: Self.fields("text/html; charset=utf-8"), body: html.document())
    }

    private var html: HTML {
        element("html", .word("lang", "en")) {
            element("head") {
                empty("meta", .word("charset", "utf-8"))
                empty("meta", .word("name", "viewport"), .word("content", "width=device-width, initial-scale=1"))
                empty("meta", .word("name", "color-scheme"), .word("content", "light dark"))
                element("title") { "\(title) · Assay" }
                empty("link", .word("rel", "stylesheet"), .href(Address("/assets/style.css")))
                empty("link", .word("rel", "icon"), .href(Address("/assets/icon.svg")))
            }
            element("body") {
                element("a", .class("skip"), .hrefMain) { "Skip to the content" }
                header
                element("main", .id("main"), .word("tabindex", "-1")) {
                    element("h1") { title }
                    content
                }
                footer
            }
        }
    }

    @HTMLBuilder private var header: HTML {
        element("header") {
            element("p", .class("brand")) { "Assay" }
            if let visit {
                element("nav", .word("aria-label", "Pages")) {
                    element("ul") {
                        for entry in Navigation.entries(for: visit) {
                            element("li") { link(to: entry) }
                        }
                    }
                }
                element("search") {
                    element("form", .word("method", "get"), .action(Address("/search"))) {
                        element("label", .word("for", "q"), .class("unseen")) { "Search for any id" }
                        empty(
                            "input",
                            .id("q"),
                            .word("name", "q"),
                            .word("type", "search"),
                            .word("maxlength", "255"),
                            .word("placeholder", "Any id")
                        )
                        element("button") { "Search" }
                    }
                }
            }
        }
    }

    private func link(to entry: Navigation.Entry) -> HTML {
        entry.address == place
            ? element("a", .href(entry.address), .word("aria-current", "page")) { entry.name }
            : element("a", .href(entry.address)) { entry.name }
    }

    private var footer: HTML {
        element("footer") {
            if let visit {
                element("p") {
                    "Signed in as "
                    element("a", .href(Address("/account"))) { element("bdi") { visit.account.name.text } }
                    ", \(visit.account.role.rawValue). All times are UTC."
                }
                visit.form(Address("/sign-out"), label: "Sign out") { HTML() }
            } else {
                element("p") { "All times are UTC." }
            }
        }
    }
}
