import Encoding
import Foundation
import Testing

/// What docs/api.md promises of every error, whoever in the house makes it.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct ContractTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let request: String
        let status: Int
        let code: String
        var isRetryable = false

        var testDescription: String { code }
    }

    private static let authorization = "Authorization: Bearer \(ServerFolder.key)\r\n"

    private static func post(_ body: String, type: String = "application/json", _ fields: String = "") -> String {
        "POST /v1/purchases HTTP/1.1\r\nHost: a\r\n\(authorization)Content-Type: \(type)\r\n\(fields)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func get(_ path: String, _ fields: String = authorization) -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    static let errors = [
        Row(request: "GARBAGE\r\n\r\n", status: 400, code: "malformed_request_line"),
        Row(request: "GET /livez HTTP/1.1\r\n\r\n", status: 400, code: "malformed_host"),
        Row(
            request: get("/livez", "X: \(String(repeating: "a", count: 20_000))\r\n"),
            status: 431,
            code: "header_too_large"
        ),
        Row(request: get("/nope"), status: 404, code: "not_found"),
        Row(request: get("/v1/purchases"), status: 405, code: "method_not_allowed"),
        Row(request: get("/v1/transactions/1", ""), status: 401, code: "unauthorized"),
        Row(request: get("/v1/transactions/1", "Authorization: Basic YTpi\r\n"), status: 401, code: "unauthorized"),
        Row(request: get("/v1/transactions/1"), status: 404, code: "not_found"),
        Row(request: get("/v1/submissions/1"), status: 404, code: "not_found"),
        Row(request: get("/v1/customers/a/transactions?limit=0"), status: 400, code: "invalid_query"),
        Row(request: post("{}"), status: 400, code: "invalid_request"),
        Row(request: post("{}", type: "text/plain"), status: 415, code: "unsupported_media_type"),
        Row(request: post("{}", "Content-Encoding: gzip\r\n"), status: 415, code: "unsupported_media_type"),
        Row(
            request: "POST /v1/purchases HTTP/1.1\r\nHost: a\r\n\(authorization)Content-Length: 5000000\r\n\r\n",
            status: 413,
            code: "body_too_large"
        ),
        Row(request: post("{\"proof\":\"x\",\"customer_id\":\"a\"}"), status: 422, code: "refused"),
        Row(
            request: "POST /v1/purchases HTTP/1.1\r\nHost: a\r\n\(authorization)Content-Length: 9\r\n\r\n{",
            status: 408,
            code: "body_too_slow",
            isRetryable: true
        ),
    ]

    @Test(arguments: errors) func everyErrorIsAProblemThatSaysWhetherToTryAgain(row: Row) async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve("--limits-body-seconds", "1")
            let answer = try #require(await server.talk { $0.say(row.request) } ?? nil)
            try Self.check(answer, row)
        }
    }

    @Test func aWrongPathOfTheDashboardIsAPage() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            let answer = try #require(await server.get("/dashboard/nope"))
            #expect(answer.status == 404)
            #expect(answer.fields["content-type"] == "text/html; charset=utf-8")
        }
    }

    @Test func whoAsksTooOftenIsToldWhenToComeBack() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve("--limits-requests-per-second", "1")
            let answers = await server.talk { client in (0..<5).map { _ in client.get("/v1/transactions/1") } } ?? []
            let refused = try #require(answers.first { $0?.status == 429 } ?? nil)
            try Self.check(refused, Row(request: "", status: 429, code: "rate_limited", isRetryable: true))
        }
    }

    @Test func asManyWaitAsTheConfigurationAllows() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve("--limits-pending-per-app", "2")
            let bodies = (0..<4).map { Purchase.body("17000002944942\($0)") }
            let answers = await server.talk { client in bodies.map { client.post($0) } } ?? []
            #expect(answers.map { $0?.status } == [202, 202, 503, 503])
            let refused = try #require(answers[2])
            try Self.check(refused, Row(request: "", status: 503, code: "too_many_pending", isRetryable: true))
            #expect(await server.post(bodies[0])?.status == 202)
        }
    }

    @Test func asManyOfACustomerWaitAsTheConfigurationAllows() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve("--limits-pending-per-customer", "2")
            let bodies = (0..<3).map { Purchase.body("17000002944942\($0)") }
            let answers = await server.talk { client in bodies.map { client.post($0) } } ?? []
            #expect(answers.map { $0?.status } == [202, 202, 429])
            let refused = try #require(answers[2])
            let row = Row(request: "", status: 429, code: "too_many_pending_of_customer", isRetryable: true)
            try Self.check(refused, row)
            #expect(await server.post(bodies[0])?.status == 202)
        }
    }

    @Test func anotherAppsTransactionsAreNotThere() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            let recorded = await server.post(Purchase.body(try Purchase.jws(1)))
            let id = try #require(recorded?.first("transaction_id"))
            #expect(await server.get("/v1/transactions/\(id)")?.status == 200)
            #expect(await server.get("/v1/transactions/\(id)", key: ServerFolder.otherKey)?.status == 404)
            let listed = await server.get("/v1/customers/customer-1/transactions", key: ServerFolder.otherKey)
            #expect(listed?.json?["transactions"]?.array?.count == 0)
            // A proof for one app is none for the other.
            let presented = await server.post(Purchase.body(try Purchase.jws(1)), key: ServerFolder.otherKey)
            #expect(presented?.status == 422)
            #expect(presented?.json?["reason"]?.string == "not_for_this_app")
        }
    }

    private static func check(_ answer: WireClient.Answer, _ row: Row) throws {
        #expect(answer.status == row.status)
        #expect(answer.fields["content-type"] == "application/problem+json")
        let problem = try #require(answer.json, "\(answer.text)")
        #expect(problem["status"]?.int64 == Int64(row.status))
        #expect(problem["code"]?.string == row.code)
        #expect(problem["title"]?.string?.isEmpty == false)
        #expect(problem["retryable"]?.bool == row.isRetryable)
        #expect((answer.fields["retry-after"] != nil) == row.isRetryable)
    }
}
