package import Encoding

/// What this server answers, in OpenAPI 3.1: joined once from the parts beside this file.
///
/// A part is a piece of an OpenAPI document, in which some things are said shortly. An operation names the codes of its own
/// problems in `x-codes`, and in `x-codes-never` those of every such operation that it never has; the answers for them are
/// written here. `x-any-origin` says that scripts of any origin may read its answers. An event gives its sentence and what it
/// holds.
package struct Description: Sendable {
    /// As it is served.
    package let document: JSONDocument
    /// Every stable code of a problem.
    package let codes: [ProblemCode]

    /// This server's. The parts are ours, so a broken one stops the program.
    package static let standard = Description(
        parts: [
            PackageResources.api_json, PackageResources.purchases_json, PackageResources.orders_json,
            PackageResources.customers_json, PackageResources.webhooks_json, PackageResources.notifications_json,
            PackageResources.consumption_json, PackageResources.apple_json,
            PackageResources.signatures_json, PackageResources.figures_json, PackageResources.keys_json,
            PackageResources.facades_json, PackageResources.operations_json, PackageResources.jobs_json,
            PackageResources.events_json,
        ].map { Description.read($0) },
        problems: Description.read(PackageResources.problems_json)
    )

    /// What the parts say shortly. A message is sent as an event is, and none: no feed has it, and nobody can ask for its type.
    private static let kinds: Set = ["paths", "events", "messages", "components"]

    private init(parts: [JSONObject], problems: JSONObject) {
        let answers = ProblemAnswers(problems)
        let bytes = JSONWriter.object(reserving: 256 << 10) { json in
            for part in parts {
                for (name, value) in part.members where !Self.kinds.contains(name) {
                    json.member(name, value)
                }
            }
            json.object("paths") { json in
                for (path, item) in Self.members("paths", of: parts) {
                    json.object(path) { Self.writePath(item, answers, into: &$0) }
                }
            }
            json.object("webhooks") { json in
                for (type, event) in Self.members("events", of: parts) {
                    json.object(type) { EventDescription.write(type, event, into: &$0) }
                }
                for (type, message) in Self.members("messages", of: parts) {
                    json.object(type) { EventDescription.write(type, message, isOfFeed: false, into: &$0) }
                }
            }
            json.object("components") { Self.writeComponents(parts, answers, into: &$0) }
        }
        document = Self.document(bytes)
        codes = answers.codes
    }

    private static func writePath(_ item: JSONValue, _ answers: ProblemAnswers, into json: inout JSONObjectWriter) {
        for (name, value) in Self.members(item) {
            guard let operation = value.object, operation["responses"] != nil else {
                json.member(name, value)
                continue
            }
            json.object(name) { json in
                for (name, value) in operation.members {
                    switch name {
                    case "x-codes", "x-codes-never", "x-any-origin": continue
                    case "responses":
                        json.object(name) { json in
                            let problems = answers.statuses(of: operation)
                            for (status, answer) in Self.members(value) where !problems.contains(status) {
                                Self.writeAnswer(status, answer, of: operation, into: &json)
                            }
                            answers.write(for: operation, beside: value.object, into: &json)
                        }
                    default: json.member(name, value)
                    }
                }
            }
        }
    }

    private static func writeAnswer(
        _ status: String,
        _ answer: JSONValue,
        of operation: JSONObject,
        into json: inout JSONObjectWriter
    ) {
        json.object(status) { json in
            for (name, value) in members(answer) where name != "headers" { json.member(name, value) }
            let own = answer.object?["headers"]?.object
            AnswerFields.write(AnswerFields.Kind(of: operation), beside: own, into: &json)
        }
    }

    private static func writeComponents(
        _ parts: [JSONObject],
        _ answers: ProblemAnswers,
        into json: inout JSONObjectWriter
    ) {
        let components = parts.compactMap { $0["components"]?.object }
        for kind in ["securitySchemes", "headers", "parameters"] {
            json.object(kind) { json in
                for (name, value) in members(kind, of: components) { json.member(name, value) }
            }
        }
        json.object("responses") { answers.writeShared(into: &$0) }
        json.object("schemas") { json in
            for (name, value) in members("schemas", of: components) { json.member(name, value) }
            json.object("ProblemCode") { answers.writeSchema(into: &$0) }
            json.object("EventType") { json in
                json.member("type", "string")
                json.array("enum") { json in
                    for (type, _) in members("events", of: parts) { json.element(type) }
                }
            }
        }
    }

    /// The members of all objects with this name, in the order of the parts.
    private static func members(_ name: String, of parts: [JSONObject]) -> [(key: String, value: JSONValue)] {
        parts.compactMap { $0[name]?.object }.flatMap { Array($0.members) }
    }

    private static func members(_ value: JSONValue) -> [(key: String, value: JSONValue)] {
        value.object.map { Array($0.members) } ?? []
    }

    private static func read(_ bytes: [UInt8]) -> JSONObject {
        guard let object = document(bytes).root.object else { preconditionFailure("a part is an object") }
        return object
    }

    /// A name that two parts give is found here, as one that stands twice.
    private static func document(_ bytes: [UInt8]) -> JSONDocument {
        do throws(JSONFault) {
            return try JSONDocument(bytes)
        } catch {
            preconditionFailure("the description is not JSON: \(error.description)")
        }
    }
}
