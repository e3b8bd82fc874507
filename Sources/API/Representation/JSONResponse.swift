import Encoding
import HTTP

extension HTTPResponse {
    /// An answer with a JSON object as its body.
    static func json(
        _ status: HTTPStatus,
        fields: HTTPFields = [:],
        _ body: (inout JSONObjectWriter) -> Void
    ) -> HTTPResponse {
        var fields = fields
        fields["Content-Type"] = "application/json"
        return HTTPResponse(status, fields: fields, body: JSONWriter.object(body))
    }
}
