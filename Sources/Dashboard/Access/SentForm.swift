import HTTP

/// A form as a browser sends it.
enum SentForm {
    /// The fields of a form that was sent as forms are.
    static func fields(of request: HTTPRequest) -> FormFields? {
        let type = request.fields.single("Content-Type") ?? ""
        let name = type.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
        guard name.elementsEqual("application/x-www-form-urlencoded".utf8) else { return nil }
        return FormFields(request.body)
    }

    /// False when the browser says that another site sent it (Fetch Metadata; WHATWG Fetch, *Origin*).
    static func isOurs(_ fields: HTTPFields) -> Bool {
        if let site = fields["Sec-Fetch-Site"] { return site == "same-origin" }
        guard let origin = fields["Origin"] else { return true }
        guard let host = fields.single("Host") else { return false }
        return origin == "https://\(host)" || origin == "http://\(host)"
    }
}
