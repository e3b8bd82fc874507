import Encoding
package import HTTP

/// A stable word for what went wrong.
package struct ProblemCode: Sendable {
    package let text: String
    /// Each has one status.
    package let status: HTTPStatus
    /// One sentence.
    package let meaning: String
}

/// The problems that operations answer with: which, and how an answer with them is described.
struct ProblemAnswers {
    let codes: [ProblemCode]
    private let everywhere: [String]
    private let withKey: [String]
    private let withBody: [String]
    private let idempotent: [String]

    init(_ table: JSONObject) {
        func words(_ name: String) -> [String] { table[name]?.array?.compactMap(\.string) ?? [] }
        everywhere = words("everywhere")
        withKey = words("with_key")
        withBody = words("with_body")
        idempotent = words("idempotent")
        codes =
            (table["codes"]?.object?.members).map { members in
                members.map { name, value in
                    guard let status = value.object?["status"]?.int64, let meaning = value.object?["meaning"]?.string
                    else { preconditionFailure("\(name) has a status and a meaning") }
                    return ProblemCode(text: name, status: HTTPStatus(rawValue: Int(status)), meaning: meaning)
                }
            } ?? []
    }

    /// The statuses of the problems of one operation.
    func statuses(of operation: JSONObject) -> Set<String> {
        let names = names(of: operation)
        return Set(codes.filter { names.contains($0.text) }.map(\.status.description))
    }

    private func names(of operation: JSONObject) -> Set<String> {
        func words(_ name: String) -> [String] { operation[name]?.array?.compactMap(\.string) ?? [] }
        let needsKey = operation["security"]?.array?.isEmpty == false
        let hasBody = operation["requestBody"] != nil
        let isIdempotent = operation["parameters"]?.array?.contains { parameter in
            parameter.object?["$ref"]?.says("#/components/parameters/IdempotencyKey") ?? false
        }
        let given = Set(
            everywhere + words("x-codes") + (needsKey ? withKey : []) + (needsKey && hasBody ? withBody : [])
                + (isIdempotent == true ? idempotent : [])
        )
        let never = words("x-codes-never")
        precondition(given.isSuperset(of: never), "x-codes-never takes out what is there")
        return given.subtracting(never)
    }

    /// The answers with problems of one operation.
    ///
    /// - Parameters:
    ///   - operation: whose they are.
    ///   - own: what else it answers; a status that stands there too has both contents.
    ///   - json: where they are written.
    func write(for operation: JSONObject, beside own: JSONObject?, into json: inout JSONObjectWriter) {
        let names = names(of: operation)
        for code in names {
            precondition(codes.contains { $0.text == code }, "problems.json has no code \(code)")
        }
        let (shared, kind) = (Self.grouped(sharedCodes), AnswerFields.Kind(of: operation))
        for (status, codes) in Self.grouped(codes.filter { names.contains($0.text) }) {
            json.object(status.description) { json in
                let own = own?[status.description]?.object
                let isShared = shared.contains { $0.0 == status && $0.1.map(\.text) == codes.map(\.text) }
                if own == nil, isShared, !kind.isToAnyOrigin {
                    json.member("$ref", "#/components/responses/\(Self.name(status))")
                } else {
                    write(status, codes, kind, beside: own, into: &json)
                }
            }
        }
    }

    /// The answers that many operations give alike, with and without a key.
    func writeShared(into json: inout JSONObjectWriter) {
        for (status, codes) in Self.grouped(sharedCodes) {
            json.object(Self.name(status)) { write(status, codes, into: &$0) }
        }
        // A path's other methods are no operations: no operation has this answer.
        for (status, codes) in Self.grouped(codes) where status == .methodNotAllowed {
            json.object(Self.name(status)) { write(status, codes, into: &$0) }
        }
    }

    /// The schema of `code`.
    func writeSchema(into json: inout JSONObjectWriter) {
        json.member("type", "string")
        json.member("description", Self.list(codes))
        json.array("enum") { json in for code in codes { json.element(code.text) } }
    }

    private var sharedCodes: [ProblemCode] {
        let names = Set(everywhere + withKey)
        return codes.filter { names.contains($0.text) }
    }

    private func write(
        _ status: HTTPStatus,
        _ codes: [ProblemCode],
        _ kind: AnswerFields.Kind = .ofMany,
        beside own: JSONObject? = nil,
        into json: inout JSONObjectWriter
    ) {
        let first = own?["description"]?.string.map { $0 + "\n\n" } ?? ""
        json.member("description", "\(first)\(status.phrase).\n\n\(Self.list(codes))")
        let more = Self.fields.filter { $0.status == status }.map { ($0.field, $0.component) }
        AnswerFields.write(kind, beside: own?["headers"]?.object, and: more, into: &json)
        json.object("content") { json in
            if let contents = own?["content"]?.object {
                for (type, content) in contents.members { json.member(type, content) }
            }
            json.object("application/problem+json") { json in
                json.object("schema") { json in
                    json.array("allOf") { json in
                        json.object { $0.member("$ref", "#/components/schemas/Problem") }
                        json.object { json in
                            json.object("properties") { json in
                                json.object("status") { $0.member("const", status.rawValue) }
                                json.object("code") { json in
                                    json.array("enum") { json in for code in codes { json.element(code.text) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static let fields: [(status: HTTPStatus, field: String, component: String)] = [
        (.unauthorized, "WWW-Authenticate", "WWWAuthenticate"), (.methodNotAllowed, "Allow", "Allow"),
        (.requestTimeout, "Retry-After", "RetryAfter"), (.tooManyRequests, "Retry-After", "RetryAfter"),
        (.serviceUnavailable, "Retry-After", "RetryAfter"),
    ]

    /// By their statuses, the lowest first.
    private static func grouped(_ codes: [ProblemCode]) -> [(HTTPStatus, [ProblemCode])] {
        let groups = Dictionary(grouping: codes, by: \.status)
        return groups.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value) }
    }

    /// In Markdown.
    private static func list(_ codes: [ProblemCode]) -> String {
        codes.map { "- `\($0.text)`: \($0.meaning)" }.joined(separator: "\n")
    }

    private static func name(_ status: HTTPStatus) -> String {
        String(decoding: status.phrase.utf8.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }
}
