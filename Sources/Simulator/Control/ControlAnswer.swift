import Encoding
import HTTP
import PurchaseModel

/// Answers of the control API: JSON, and RFC 9457 problems with stable codes.
enum ControlAnswer {
    static func json(
        _ status: HTTPStatus = .ok,
        _ body: (inout JSONObjectWriter) -> Void
    ) -> HTTPResponse {
        HTTPResponse(status, fields: ["Content-Type": "application/json"], body: JSONWriter.object(body))
    }

    /// With a stable word as its code, one sentence, and the place of the member that is wrong.
    static func problem(
        _ status: HTTPStatus,
        code: String,
        detail: String,
        path: String? = nil
    ) -> HTTPResponse {
        let body = JSONWriter.object { json in
            json.member("title", status.phrase)
            json.member("status", status.rawValue)
            json.member("code", code)
            json.member("detail", detail)
            json.member("path", path.flatMap { $0.isEmpty ? nil : $0 })
        }
        return HTTPResponse(status, fields: ["Content-Type": "application/problem+json"], body: body)
    }

    static func notFound(_ what: String) -> HTTPResponse {
        problem(.notFound, code: "not_found", detail: "There is no such \(what).")
    }

    static func fault(_ fault: StoryFault) -> HTTPResponse {
        let status: HTTPStatus = fault.refusal == nil ? .badRequest : .conflict
        return problem(status, code: fault.refusal ?? "invalid_request", detail: fault.description, path: fault.path)
    }

    /// The store understood and will not.
    static func refused(_ refusal: ActRefusal) -> HTTPResponse {
        problem(.conflict, code: refusal.rawValue, detail: "The store does not do that: \(refusal.rawValue).")
    }

    /// Time would pass the end of the certificates: what is signed then nobody takes.
    static func beyondCertificates(_ end: Timestamp) -> HTTPResponse {
        let moment = RFC3339.text(milliseconds: end.milliseconds) ?? "never"
        return problem(
            .conflict,
            code: "beyond_certificates",
            detail: "What this simulator's certificates sign holds until \(moment), and time goes no further."
        )
    }

    /// The body as one JSON object.
    static func members(_ body: [UInt8]) throws(StoryFault) -> StoryMembers {
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(body)
        } catch {
            throw StoryFault("", "the body is not JSON: \(error)")
        }
        return try StoryMembers(document.root)
    }
}
