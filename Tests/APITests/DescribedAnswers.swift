import API
import Encoding
import HTTP
import Testing

/// Holds every answer of a test's server to what is described of it: it has no status, no code of a problem and no header
/// field beyond.
enum DescribedAnswers {
    /// What belongs to the message and not to the answer: OpenAPI leaves it out.
    private static let ofMessage: Set = ["content-type", "date"]

    /// The routes, each of which records an issue for what is not described.
    static func routes(_ parts: APIParts) -> Router {
        let router = API.routes(parts)
        let described = router.routes.map { route in
            Route(route.method, route.template) { request, path in
                let response = await route.respond(request, path)
                for fault in faults(response, route.method, route.template) {
                    Issue.record("\(route.method) \(route.template): \(fault)")
                }
                return response
            }
        }
        return Router(described, refused: router.refused)
    }

    static func faults(_ response: HTTPResponse, _ method: HTTPMethod, _ template: String) -> [String] {
        let answers = operation(method, template)?["responses"]?.object
        guard let answer = resolved(answers?["\(response.status.rawValue)"]) else {
            return ["\(response.status) is not described"]
        }
        let headers = answer["headers"]?.object.map { Array($0.members) } ?? []
        let described = Set(headers.map { $0.key.lowercased() })
        let sent = Set(response.fields.map { $0.name.lowercased() })
        let missing = headers.filter { name, value in
            resolved(value)?["required"]?.bool == true && !sent.contains(name.lowercased())
        }
        let unnamed = code(of: response).flatMap { codes(of: answer).contains($0) ? nil : $0 }
        let more = sent.subtracting(described).subtracting(ofMessage).sorted()
        return (unnamed.map { ["\(response.status) is \($0)"] } ?? [])
            + more.map { "\(response.status) has \($0)" }
            + missing.map { "\(response.status) lacks \($0.key)" }
    }

    /// The code of a problem, if this is one.
    static func code(of response: HTTPResponse) -> String? {
        guard response.fields.single("Content-Type") == problem else { return nil }
        return (try? response.json())?["code"]?.string
    }

    /// The codes with which an operation's problems are described.
    static func codes(_ method: HTTPMethod, _ template: String) -> Set<String> {
        let answers = operation(method, template)?["responses"]?.object
        let described = answers?.members.compactMap { resolved($0.value) } ?? []
        return Set(described.flatMap { codes(of: $0) })
    }

    private static func codes(of answer: JSONObject) -> Set<String> {
        let parts = answer["content"]?.object?[problem]?.object?["schema"]?.object?["allOf"]?.array
        let enums = parts?.compactMap { $0.object?["properties"]?.object?["code"]?.object?["enum"]?.array } ?? []
        return Set(enums.flatMap { $0.compactMap(\.string) })
    }

    private static let problem = "application/problem+json"

    private static func operation(_ method: HTTPMethod, _ template: String) -> JSONObject? {
        let paths = Description.standard.document.root.object?["paths"]?.object
        return paths?[template]?.object?[method.rawValue.lowercased()]?.object
    }

    private static func resolved(_ value: JSONValue?) -> JSONObject? {
        guard let place = value?.object?["$ref"]?.string?.split(separator: "/"), place.count == 4 else {
            return value?.object
        }
        let components = Description.standard.document.root.object?[String(place[1])]?.object
        return components?[String(place[2])]?.object?[String(place[3])]?.object
    }
}
