import HTTP
import Testing

@Suite struct RouterTests {
    /// Answers with the template that was found and its parameters.
    private static func route(_ method: HTTPMethod, _ template: String) -> Route {
        Route(method, template) { request, parameters in
            let names = ["a", "b"].compactMap { name in parameters[name].map { "\(name)=\($0)" } }
            return HTTPResponse(.ok, body: Array(([template] + names).joined(separator: " ").utf8))
        }
    }

    private static let router = Router([
        route(.get, "/"),
        route(.get, "/things"),
        route(.post, "/things"),
        route(.get, "/things/{a}"),
        route(.delete, "/things/{a}"),
        route(.get, "/things/special"),
        route(.get, "/things/{a}/parts/{b}"),
        route(.put, "/things/special/parts"),
        route(.get, "/{a}/parts"),
    ])

    private func respond(_ method: HTTPMethod, _ path: String) async -> HTTPResponse {
        await RouterTests.router.respond(to: HTTPRequest(method: method, path: path))
    }

    @Test(arguments: [
        ("/", "/"),
        ("/things", "/things"),
        ("/things/1", "/things/{a} a=1"),
        ("/things/special", "/things/special"),
        ("/things/1/parts/2", "/things/{a}/parts/{b} a=1 b=2"),
        ("/things/special/parts/2", "/things/{a}/parts/{b} a=special b=2"),
        ("/other/parts", "/{a}/parts a=other"),
        ("/things/a%20b", "/things/{a} a=a b"),
        ("/things/a%2Fb", "/things/{a} a=a/b"),
        ("/things/a%2fb%25", "/things/{a} a=a/b%"),
        ("/things/caf%C3%A9", "/things/{a} a=caf\u{E9}"),
        ("/things/a+b", "/things/{a} a=a+b"),
        ("/th%69ngs", "/things"),
        ("/things/%7Ba%7D", "/things/{a} a={a}"),
        ("/things/...", "/things/{a} a=..."),
    ])
    func aPathIsFound(path: String, found: String) async {
        let response = await respond(.get, path)
        #expect(response.status == .ok)
        #expect(String(decoding: response.body, as: UTF8.self) == found)
    }

    @Test(arguments: [
        "/none", "/things/", "//", "//things", "/things//parts/2", "/Things", "/things/1/parts", "/things/1/parts/2/3",
        "/things%2F1",
    ])
    func aPathThatIsNobodysIsNotFound(path: String) async {
        let response = await respond(.get, path)
        #expect(response.status == .notFound)
        #expect(response.fields["Content-Type"] == "application/problem+json")
    }

    @Test(arguments: [
        "", "things", "*", "/%", "/%4", "/%4G", "/%G4", "/things/%00", "/things/%0A", "/things/%7F", "/things/.",
        "/things/..", "/things/%2E%2e/x", "/things/%FF", "/things/%C3", "/things/%C0%AF", "/things/%ED%A0%80",
        "/%%", "/things/%+5",
    ])
    func aCrookedPathIsABadRequest(path: String) async {
        #expect(await respond(.get, path).status == .badRequest)
    }

    @Test func aPathOfAThousandSegmentsIsABadRequest() async {
        #expect(await respond(.get, String(repeating: "/a", count: 1_000)).status == .badRequest)
    }

    @Test(arguments: [
        (HTTPMethod.post, "/", "GET, HEAD"),
        (.delete, "/things", "GET, HEAD, POST"),
        (.put, "/things/1", "DELETE, GET, HEAD"),
        (.get, "/things/special/parts", "PUT"),
        (.head, "/things/special/parts", "PUT"),
        (HTTPMethod(rawValue: "get"), "/", "GET, HEAD"),
    ])
    func anotherMethodIsToldWhichAreAllowed(method: HTTPMethod, path: String, allow: String) async {
        let response = await respond(method, path)
        #expect(response.status == .methodNotAllowed)
        #expect(response.fields["Allow"] == allow)
    }

    @Test func headIsAnsweredByGet() async {
        let response = await respond(.head, "/things/1")
        #expect(response.status == .ok)
        #expect(String(decoding: response.body, as: UTF8.self) == "/things/{a} a=1")
    }

    @Test func theTableCanBePrinted() {
        let lines = RouterTests.router.description.split(separator: "\n")
        #expect(lines.count == 9)
        #expect(lines.first == "GET     /")
        #expect(lines.last == "GET     /{a}/parts")
        #expect(lines.contains("DELETE  /things/{a}"))
    }

    @Test func ourOwnMistakesStopTheProgram() async {
        await #expect(processExitsWith: .failure) { _ = Route(.get, "things") { _, _ in HTTPResponse(.ok) } }
        await #expect(processExitsWith: .failure) { _ = Route(.get, "/{a}/{a}") { _, _ in HTTPResponse(.ok) } }
        await #expect(processExitsWith: .failure) { _ = Route(.get, "/x{a}") { _, _ in HTTPResponse(.ok) } }
        await #expect(processExitsWith: .failure) {
            let route = Route(.get, "/a") { _, _ in HTTPResponse(.ok) }
            _ = Router([route, route])
        }
    }
}
