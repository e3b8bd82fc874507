import API
import Crypto
import Encoding
import Foundation
import HTTP
import Pipeline
import PurchaseModel
import Testing

/// The OpenAPI document is the routes, no more and no less.
@Suite struct DescriptionTests {
    private struct Operation {
        let method: String
        let path: String
        let item: JSONObject
        let members: JSONObject

        var name: String { "\(method) \(path)" }
        var needsKey: Bool { scope != nil }
        /// What a key must be allowed to do; `nil` where none is needed.
        var scope: String? {
            members["security"]?.array?.first { _ in true }?.object?["key"]?.array?.first { _ in true }?.string
        }

        func parameters(_ document: JSONObject) -> [JSONObject] {
            [item, members].compactMap { $0["parameters"]?.array }.flatMap { Array($0) }.compactMap { value in
                guard let name = value.object?["$ref"]?.string?.split(separator: "/").last else { return value.object }
                return document["components"]?.object?["parameters"]?.object?[String(name)]?.object
            }
        }
    }

    private let document: JSONObject
    private let operations: [Operation]

    init() throws {
        document = try #require(Description.standard.document.root.object)
        operations = try #require(document["paths"]?.object).members.flatMap { path, value in
            let item = try #require(value.object)
            return item.members.filter { $0.key != "parameters" }.compactMap { method, value in
                value.object.map { Operation(method: method.uppercased(), path: path, item: item, members: $0) }
            }
        }
    }

    @Test func everyRouteIsDescribedAndNoOther() throws {
        let routes = try TestHouse().router.routes
        let described = operations.map(\.name)
        #expect(Set(described) == Set(routes.map { "\($0.method) \($0.template)" }))
        #expect(described.count == routes.count)
    }

    /// What a webhook tells the feed tells, too.
    @Test func theFeedHasTheDataOfEveryEvent() throws {
        func kinds(_ value: JSONValue?) throws -> Set<String> {
            let text = String(decoding: try #require(value).raw, as: UTF8.self)
            return Set(text.matches(of: /schemas\/(\w+Event)"/).map { String($0.1) })
        }
        let event = document["components"]?.object?["schemas"]?.object?["Event"]?.object?["properties"]?.object?["data"]
        let told = try kinds(document["webhooks"])
        #expect(try kinds(event) == told)
        #expect(told.count > 5)
    }

    @Test func everyOperationNamesItsParametersAndAnswers() throws {
        var names: Set<String> = []
        for operation in operations {
            let name = try #require(operation.members["operationId"]?.string)
            #expect(names.insert(name).inserted, "\(name) is there twice")
            #expect(operation.members["summary"]?.string?.isEmpty == false, "\(name)")
            #expect(operation.members["tags"]?.array?.count == 1, "\(name)")
            let statuses = try #require(operation.members["responses"]?.object).members.map(\.key)
            #expect(statuses.contains { $0.hasPrefix("2") }, "\(name)")
            #expect(statuses.contains("401") == operation.needsKey, "\(name)")
            let inPath = operation.parameters(document).filter { $0["in"]?.string == "path" }
            #expect(
                inPath.compactMap { $0["name"]?.string }
                    == operation.path.matches(of: /\{(\w+)\}/).map { String($0.1) },
                "\(name)"
            )
        }
    }

    /// Every answer in all of these tests is held to the description; this is what is found.
    @Test func whatIsNotDescribedIsFound() {
        var answer = HTTPResponse(.ok, fields: ["Content-Type": "application/json", "X-Request-Id": "1"])
        #expect(DescribedAnswers.faults(answer, .get, "/livez") == [])
        answer.fields["X-Powered-By"] = "Swift"
        #expect(DescribedAnswers.faults(answer, .get, "/livez") == ["200 has x-powered-by"])
        let bare = HTTPResponse(.unauthorized)
        #expect(DescribedAnswers.faults(bare, .get, "/v1/orders") == ["401 lacks WWW-Authenticate"])
        #expect(DescribedAnswers.faults(bare, .get, "/livez") == ["401 is not described"])
    }

    @Test func whatItRefersToIsThereAndUsed() throws {
        let text = String(decoding: document.value.raw, as: UTF8.self)
        let referred = Set(text.matches(of: /"#\/components\/(\w+)\/(\w+)"/).map { [String($0.1), String($0.2)] })
        for place in referred {
            #expect(document["components"]?.object?[place[0]]?.object?[place[1]] != nil, "\(place)")
        }
        for (kind, components) in try #require(document["components"]?.object).members {
            for (name, _) in try #require(components.object).members where kind == "schemas" || kind == "parameters" {
                #expect(referred.contains([kind, name]), "nobody refers to \(name)")
            }
        }
    }

    /// Who needs a key, and who takes an Idempotency-Key, is told by what is answered without the one or under a wrong
    /// other.
    @Test func keysAndIdempotencyAreAsDescribed() async throws {
        try await TestHouse().open { house in
            for operation in operations where operation.path != "/metrics" {
                let path = operation.path.replacing(/\{\w+\}/, with: "1")
                let method = HTTPMethod(rawValue: operation.method)
                let stranger = await house.router.respond(to: HTTPRequest(method: method, path: path))
                #expect((stranger.status == .unauthorized) == operation.needsKey, "\(operation.name)")
                guard method == .post, operation.needsKey else { continue }
                let fields: HTTPFields = [
                    "Authorization": "Bearer \(TestHouse.key)", "Content-Type": "application/json",
                    "Idempotency-Key": "with a space",
                ]
                let request = HTTPRequest(method: method, path: path, fields: fields, body: Array("{}".utf8))
                let takesKey = operation.parameters(document).contains { $0["name"]?.string == "Idempotency-Key" }
                let code = try await house.router.respond(to: request).json()["code"]?.string
                #expect((code == "invalid_idempotency_key") == takesKey, "\(operation.name)")
            }
        }
    }

    /// Of something that may be there: ids of the right form.
    private static func place(_ template: String) -> String {
        template.replacing("{name}", with: "revenue")
            .replacing("submissions/{id}", with: "submissions/\(String(repeating: "0", count: 32))")
            .replacing("webhooks/{id}", with: "webhooks/whe_1").replacing(/\{\w+\}/, with: "1")
    }

    /// What a query says and nobody reads may be what matters: a `dry_run` that belongs into the body.
    @Test func noQueryFieldIsReadOverWithoutAWord() async throws {
        try await TestHouse().open { house in
            for operation in operations where operation.path.hasPrefix("/v1/") {
                let isApples = operation.path == "/v1/apple/notifications/{token}"
                let request = HTTPRequest(
                    method: HTTPMethod(rawValue: operation.method),
                    path: Self.place(operation.path),
                    query: "dry_run=true",
                    fields: ["Authorization": "Bearer \(TestHouse.key)", "Content-Type": "application/json"],
                    body: operation.method == "POST" ? Array("{}".utf8) : []
                )
                let code = try await house.router.respond(to: request).json()["code"]?.string
                #expect((code == "invalid_query") != isApples, "\(operation.name): \(code ?? "")")
            }
        }
    }

    /// For each scope a key that has all others opens everything but what asks for it.
    @Test(arguments: Scope.allCases) func scopesAreAsDescribed(scope: Scope) async throws {
        let key = "sk_test_without_\(scope.rawValue)_0123456789abcdef"
        // Who may read everything may read what a customer has.
        let others = Set(Scope.allCases).subtracting(scope == .customer ? [.customer, .read] : [scope])
        let holder = KeyRing.Holder(name: "narrow", app: try #require(AppID("demo")))
        let ring = KeyRing([Digest.sha256(Array(key.utf8)): APIKey(holder, scopes: others)])
        let narrow = try TestHouse(keys: ring)
        for operation in operations where operation.scope == scope.rawValue {
            let request = HTTPRequest(
                method: HTTPMethod(rawValue: operation.method),
                path: operation.path.replacing(/\{\w+\}/, with: "1"),
                fields: ["Authorization": "Bearer \(key)"]
            )
            let answer = await narrow.router.respond(to: request)
            #expect(answer.status == .forbidden, "\(operation.name)")
            #expect(try answer.json()["scope"]?.string == scope.rawValue, "\(operation.name)")
        }
    }

    @Test func everyCodeOfAProblemIsDescribedAndInTheTable() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var answered = Set(HTTPRefusal.allCases.map(\.rawValue))
        answered.formUnion(OrderState.allCases.map { "order_is_\($0.rawValue)" })
        answered.formUnion(ConsumptionState.allCases.map { "request_is_\($0.rawValue)" })
        answered.formUnion(FulfilmentState.allCases.map { "purchase_is_\($0.rawValue)" })
        for folder in ["Sources/API", "Sources/HTTP"] {
            let place = root.appending(path: folder)
            let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files) where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                answered.formUnion(text.matches(of: /(?:code: |conflict\(\s*)"(\w+)"/).map { String($0.1) })
            }
        }
        #expect(Set(Description.standard.codes.map(\.text)) == answered)
        let page = try String(contentsOf: root.appending(path: "docs/api.md"), encoding: .utf8)
        let rows = page.matches(of: /\n\| `(\w+)` \| (\d+) \|/).map { "\($0.1) \($0.2)" }
        #expect(Set(rows) == Set(Description.standard.codes.map { "\($0.text) \($0.status)" }))
    }
}
