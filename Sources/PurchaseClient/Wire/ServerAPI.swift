import Foundation

/// The three requests that an app makes.
struct ServerAPI: Sendable {
    let settings: ClientSettings

    /// A purchase is shown to the server.
    func submission(_ body: [UInt8], token: String?) -> Transport.Request {
        var fields = fields(token)
        fields["Content-Type"] = "application/json"
        return Transport.Request(method: "POST", target: "/v1/purchases", fields: fields, body: body)
    }

    /// What has become of one that it has kept.
    func question(about submission: String, token: String?) -> Transport.Request {
        Transport.Request(method: "GET", target: "/v1/submissions/\(submission)", fields: fields(token), body: [])
    }

    /// What a customer may use now.
    ///
    /// - Parameters:
    ///   - customer: whose.
    ///   - tag: of the answer that is known already.
    /// - Returns: the request.
    func entitlements(of customer: String, known tag: String?) async -> Transport.Request {
        var fields = fields(await settings.customerToken(customer))
        fields["If-None-Match"] = tag
        let target = "/v1/customers/\(Self.encoded(customer))/entitlements"
        return Transport.Request(method: "GET", target: target, fields: fields, body: [])
    }

    private func fields(_ token: String?) -> [String: String] {
        var fields = ["Authorization": "Bearer \(settings.key)", "Accept": "application/json"]
        fields["Assay-Customer-Token"] = token
        return fields
    }

    /// As one step of a path: whatever might mean something there is written as `%2F`.
    static func encoded(_ text: String) -> String {
        let encoded = text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                [byte]
            // A full stop, too: by itself it would be a step of the path, and no name.
            default: [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
