import Encoding

/// One operation, as a page shows it.
struct DocsOperation: Sendable {
    let id: String
    let method: String
    let path: String
    let section: String
    let summary: String
    private let description: String
    private let scope: String?
    private let parameters: [Parameter]
    private let body: String?
    private let answers: [(status: String, meaning: String, example: String?)]

    private struct Parameter: Sendable {
        let name: String
        let place: String
        let description: String
        let example: String?
    }

    static func all(in root: JSONObject) -> [DocsOperation] {
        (root["paths"]?.object).map { paths in
            paths.members.flatMap { path, item in
                (item.object?.members).map { members in
                    members.filter { $0.key != "parameters" }.compactMap { method, value in
                        value.object.map { DocsOperation(method, path, $0, item.object, root) }
                    }
                } ?? []
            }
        } ?? []
    }

    private init(_ method: String, _ path: String, _ members: JSONObject, _ item: JSONObject?, _ root: JSONObject) {
        let upper = method.utf8.map { (0x61...0x7A).contains($0) ? $0 & 0xDF : $0 }
        self.method = String(decoding: upper, as: UTF8.self)
        self.path = path
        id = members["operationId"]?.string ?? ""
        section = members["tags"]?.array?.first { _ in true }?.string ?? ""
        summary = members["summary"]?.string ?? ""
        description = members["description"]?.string ?? ""
        scope = members["security"]?.array?.first { _ in true }?.object?["key"]?.array?.first { _ in true }?.string
        parameters = [item, members].compactMap { $0?["parameters"]?.array }.flatMap { Array($0) }
            .compactMap { Self.resolved($0, root) }
            .map { parameter in
                Parameter(
                    name: parameter["name"]?.string ?? "",
                    place: parameter["in"]?.string ?? "",
                    description: parameter["description"]?.string ?? "",
                    example: parameter["example"]?.string
                )
            }
        body = Self.example(in: members["requestBody"]?.object)
        answers =
            (members["responses"]?.object).map { responses in
                responses.members.map { status, value in
                    let answer = Self.resolved(value, root)
                    return (status, answer?["description"]?.string ?? "", Self.example(in: answer))
                }
            } ?? []
    }

    /// What stands there, or what it refers to.
    private static func resolved(_ value: JSONValue, _ root: JSONObject) -> JSONObject? {
        guard let reference = value.object?["$ref"]?.string else { return value.object }
        let parts = reference.split(separator: "/").dropFirst().map(String.init)
        return parts.reduce(root) { object, name in object?[name]?.object }
    }

    private static func example(in holder: JSONObject?) -> String? {
        let content = holder?["content"]?.object?["application/json"]?.object
        return content?["example"].map { String(decoding: $0.raw, as: UTF8.self) }
    }

    func write(into html: inout DocsText) {
        html.raw("<article id=\"")
        html.text(id)
        html.raw("\"><h2>")
        html.text(summary)
        html.raw("</h2><p><code>")
        html.text("\(method) \(path)")
        html.raw("</code>")
        if let scope {
            html.raw(" <span class=\"scope\">scope ")
            html.text(scope)
            html.raw("</span>")
        }
        html.raw("</p>")
        html.prose(description)
        writeParameters(into: &html)
        html.raw("<h3>Request</h3>")
        let call = DocsSnippet.Call(method: method, path: examplePath, needsKey: scope != nil, body: body)
        html.code("curl", of: "\(method) \(path)", DocsSnippet.curl(call))
        html.code("Swift", of: "\(method) \(path)", DocsSnippet.swift(call))
        html.raw("<h3>Answers</h3><dl>")
        for answer in answers {
            html.raw("<dt>")
            html.text(answer.status)
            html.raw("</dt><dd>")
            html.prose(answer.meaning)
            if let example = answer.example { html.code("Answer \(answer.status)", of: "\(method) \(path)", example) }
            html.raw("</dd>")
        }
        html.raw("</dl></article>")
    }

    private func writeParameters(into html: inout DocsText) {
        guard !parameters.isEmpty else { return }
        html.raw("<h3>Parameters</h3><dl>")
        for parameter in parameters {
            html.raw("<dt><code>")
            html.text(parameter.name)
            html.raw("</code> <span class=\"scope\">")
            html.text(parameter.place)
            html.raw("</span></dt><dd>")
            html.prose(parameter.description)
            html.raw("</dd>")
        }
        html.raw("</dl>")
    }

    /// The path with the examples of its parameters; a name stands for itself.
    private var examplePath: String {
        parameters.filter { $0.place == "path" }.reduce(path) { path, parameter in
            path.replacing("{\(parameter.name)}", with: parameter.example ?? parameter.name)
        }
    }
}
