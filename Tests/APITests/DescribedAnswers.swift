import API
import Encoding
import HTTP
import Testing

/// Holds every answer of a test's server to what is described of it: it has no status and no header field beyond.
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
        let document = Description.standard.document.root.object
        let operation = document?["paths"]?.object?[template]?.object?[method.rawValue.lowercased()]?.object
        guard let answer = resolved(operation?["responses"]?.object?["\(response.status.rawValue)"]) else {
            return ["\(response.status) is not described"]
        }
        let headers = answer["headers"]?.object.map { Array($0.members) } ?? []
        let described = Set(headers.map { $0.key.lowercased() })
        let sent = Set(response.fields.map { $0.name.lowercased() })
        let missing = headers.filter { name, value in
            resolved(value)?["required"]?.bool == true && !sent.contains(name.lowercased())
        }
        return sent.subtracting(described).subtracting(ofMessage).sorted().map { "\(response.status) has \($0)" }
            + missing.map { "\(response.status) lacks \($0.key)" }
    }

    private static func resolved(_ value: JSONValue?) -> JSONObject? {
        guard let place = value?.object?["$ref"]?.string?.split(separator: "/"), place.count == 4 else {
            return value?.object
        }
        let components = Description.standard.document.root.object?[String(place[1])]?.object
        return components?[String(place[2])]?.object?[String(place[3])]?.object
    }
}
