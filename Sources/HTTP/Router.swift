/// Finds the route for a request's method and path: 404 without one, 405 with Allow when only the method is wrong.
///
/// A literal segment wins over a parameter in the same place. HEAD is answered by GET's route.
package struct Router: Sendable, CustomStringConvertible {
    /// Deeper paths are nobody's. Limits the search.
    package static let segmentsMax = 32

    /// Finishes the answer to a request that no route took.
    package typealias Refused = @Sendable (HTTPResponse, HTTPRequest) -> HTTPResponse

    package let routes: [Route]
    package let refused: Refused
    private var root = Node()

    /// Two routes of one method whose templates take the same paths are a mistake of ours, and stop the program.
    ///
    /// - Parameters:
    ///   - routes: all that is answered.
    ///   - refused: gives what every answer has to those that are the router's own.
    package init(_ routes: [Route], refused: @escaping Refused = { response, _ in response }) {
        self.routes = routes
        self.refused = refused
        for (index, route) in routes.enumerated() {
            root.add(index, route.method, at: route.segments[...])
        }
    }

    /// The same with more routes.
    ///
    /// - Parameters:
    ///   - more: the routes.
    ///   - theirs: the answer to a request that no route took, where it is theirs; `nil` leaves it as it was.
    /// - Returns: the router of both.
    package func adding(
        _ more: [Route],
        refused theirs: @escaping @Sendable (HTTPResponse, HTTPRequest) -> HTTPResponse? = { _, _ in nil }
    ) -> Router {
        Router(routes + more) { [refused] in theirs($0, $1) ?? refused($0, $1) }
    }

    /// Answers through the route, or with a problem.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard let segments = PathSegments.decode(request.path) else {
            return refused(.problem(.badRequest, code: "malformed_path"), request)
        }
        guard let node = root.find(segments[...]) else {
            return refused(.problem(.notFound, code: "not_found"), request)
        }
        let isHead = request.method == .head
        guard let index = node.routes[request.method] ?? (isHead ? node.routes[.get] : nil) else {
            let problem = HTTPResponse.problem(
                .methodNotAllowed,
                code: "method_not_allowed",
                fields: ["Allow": node.allow]
            )
            return refused(problem, request)
        }
        let route = routes[index]
        return await route.respond(request, PathParameters(route.segments, segments))
    }

    package var handler: HTTPHandler {
        HTTPHandler(respond)
    }

    /// The table of routes, one in a line, in the order in which they were given.
    package var description: String {
        routes.map(\.description).joined(separator: "\n")
    }
}

/// A method, a path template such as `/v1/customers/{customer}/access`, and what answers there.
package struct Route: Sendable, CustomStringConvertible {
    package typealias Respond = @Sendable (HTTPRequest, PathParameters) async -> HTTPResponse

    package let method: HTTPMethod
    package let template: String
    package let respond: Respond
    let segments: [Segment]

    /// A template is ours, so a malformed one stops the program.
    package init(_ method: HTTPMethod, _ template: String, respond: @escaping Respond) {
        precondition(template.utf8.first == UInt8(ascii: "/"), "a path template starts with /: \(template)")
        self.method = method
        self.template = template
        self.respond = respond
        segments = template.utf8.dropFirst()
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Segment(Array($0)) }
        precondition(segments.count <= Router.segmentsMax, "too deep: \(template)")
        let names = segments.compactMap(\.parameter)
        precondition(Set(names).count == names.count, "a parameter twice: \(template)")
    }

    package var description: String {
        let padding = String(repeating: " ", count: max(1, 8 - method.rawValue.utf8.count))
        return method.rawValue + padding + template
    }

    enum Segment: Sendable, Hashable {
        case literal([UInt8])
        case parameter(String)

        init(_ text: [UInt8]) {
            guard text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}"), text.count > 2 else {
                precondition(!text.contains(UInt8(ascii: "{")), "a parameter is a whole segment")
                self = .literal(text)
                return
            }
            self = .parameter(String(decoding: text[1..<text.count - 1], as: UTF8.self))
        }

        var parameter: String? {
            if case .parameter(let name) = self { name } else { nil }
        }
    }
}

/// What stood in a path where the template has parameters, percent-decoded.
package struct PathParameters: Sendable, Equatable {
    private let values: [String: String]

    package init(_ values: [String: String]) {
        self.values = values
    }

    init(_ template: [Route.Segment], _ path: [[UInt8]]) {
        var values: [String: String] = [:]
        for case (.parameter(let name), let segment) in zip(template, path) {
            values[name] = String(decoding: segment, as: UTF8.self)
        }
        self.values = values
    }

    /// `nil` only for a name that the template does not have; empty never: an empty segment matches no parameter.
    package subscript(name: String) -> String? {
        values[name]
    }
}

/// The routes below one place in the tree of paths.
private struct Node: Sendable {
    var routes: [HTTPMethod: Int] = [:]
    private var literals: [[UInt8]: Node] = [:]
    /// None or one; an array, because a struct cannot hold itself.
    private var parameter: [Node] = []

    mutating func add(_ route: Int, _ method: HTTPMethod, at path: ArraySlice<Route.Segment>) {
        switch path.first {
        case nil:
            precondition(routes[method] == nil, "two routes for one method and path")
            routes[method] = route
        case .literal(let text):
            literals[text, default: Node()].add(route, method, at: path.dropFirst())
        case .parameter:
            if parameter.isEmpty { parameter.append(Node()) }
            parameter[0].add(route, method, at: path.dropFirst())
        }
    }

    /// As deep as the tree of templates at most.
    func find(_ path: ArraySlice<[UInt8]>) -> Node? {
        guard let first = path.first else { return routes.isEmpty ? nil : self }
        if let found = literals[first]?.find(path.dropFirst()) { return found }
        return first.isEmpty ? nil : parameter.first?.find(path.dropFirst())
    }

    /// The methods that are answered here, for Allow.
    var allow: String {
        var names = Set(routes.keys.map(\.rawValue))
        if names.contains("GET") { names.insert("HEAD") }
        return names.sorted().joined(separator: ", ")
    }
}
