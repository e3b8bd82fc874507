package import Encoding

/// An answer of the App Store Server API. What Apple adds to one stays readable in `others` and changes nothing else.
///
/// Source: Apple, *App Store Server API* 1.22; recorded answers.
package protocol ServerAnswerModel: Hashable, Sendable {
    init(_ document: JSONDocument) throws(FormatFault)
}

/// The body of an error.
package struct ServerErrorAnswer: ServerAnswerModel {
    package let errorCode: Int64
    package let errorMessage: String?

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        guard let code = try reader.number("errorCode") else { throw .missing(field: "errorCode") }
        errorCode = code
        errorMessage = try reader.text("errorMessage")
    }
}
