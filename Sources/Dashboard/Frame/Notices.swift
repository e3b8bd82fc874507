import HTTP
import Storage

/// Pages that say that something was not done.
enum Notices {
    static func forbidden(_ visit: Visit) -> HTTPResponse {
        Page("Not allowed", visit: visit) {
            element("p") { "This account's role does not allow that." }
        }.response(.forbidden)
    }

    /// The form was not made for this browser, or another site sent it.
    static func strangeForm() -> HTTPResponse {
        Page("This form is out of date", visit: nil) {
            element("p") { "Nothing was changed. Go back, load the page anew, and send the form again." }
        }.response(.forbidden)
    }

    static func malformed() -> HTTPResponse {
        Page("This was not understood", visit: nil) {
            element("p") { "The address or the form is not one that this server sent." }
        }.response(.badRequest)
    }

    /// What no route takes: by its address, or by how it was asked for.
    static func untaken(_ response: HTTPResponse) -> HTTPResponse {
        var page = Page(response.status == .notFound ? "Not found" : "This was not understood", visit: nil) {
            element("p") { "The dashboard has no such page." }
            element("p") { element("a", .href(Address(""))) { "To its first page" } }
        }.response(response.status)
        page.fields["Allow"] = response.fields["Allow"]
        return page
    }

    static func notFound(_ what: String, _ visit: Visit) -> HTTPResponse {
        Page("Not found", visit: visit) { element("p") { "There is no such \(what)." } }.response(.notFound)
    }

    /// What only one answer shows, where the page that it belongs on cannot be made.
    static func secret(_ secret: String, _ visit: Visit) -> HTTPResponse {
        Page("It was done", visit: visit) {
            element("p") { "The new secret. This page is the only one that shows it:" }
            element("pre", .word("tabindex", "0"), .class("secret")) { secret }
        }.response()
    }

    static func busy() -> HTTPResponse {
        var response = Page("Busy", visit: nil) {
            element("p") { "The server has more to do than it can right now. Try again in a moment." }
        }.response(.serviceUnavailable)
        response.fields["Retry-After"] = "1"
        return response
    }

    static func wait(_ duration: Duration) -> HTTPResponse {
        let seconds = max(1, duration.components.seconds + (duration.components.attoseconds > 0 ? 1 : 0))
        var response = Page("Wait a moment", visit: nil) {
            element("p") { "There were too many tries. The next one is possible in \(seconds) s." }
        }.response(.tooManyRequests)
        response.fields["Retry-After"] = String(seconds)
        return response
    }

    static func store(_ failure: StoreFailure) -> HTTPResponse {
        switch failure {
        case .busy, .conflict: return busy()
        case .unreachable, .full, .broken, .unstorable, .closed:
            var response = Page("The ledger does not answer", visit: nil) {
                element("p") { "Nothing was changed. The server's log says more." }
            }.response(.serviceUnavailable)
            response.fields["Retry-After"] = "5"
            return response
        }
    }

    static func leave(for address: Address) -> HTTPResponse {
        var fields = Page.fields("text/html; charset=utf-8")
        fields["Location"] = address.text
        return HTTPResponse(.seeOther, fields: fields)
    }
}
