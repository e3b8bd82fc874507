import Encoding
import HTTP

extension HTTPResponse {
    /// Room for one transaction with all that Apple says of it, so that the text of most answers never moves.
    private static let bytesExpected = 1_024

    /// An answer with a JSON object as its body.
    static func json(
        _ status: HTTPStatus,
        fields: HTTPFields = [:],
        _ body: (inout JSONObjectWriter) -> Void
    ) -> HTTPResponse {
        var fields = fields
        fields["Content-Type"] = "application/json"
        return HTTPResponse(status, fields: fields, body: JSONWriter.object(reserving: bytesExpected, body))
    }
}
