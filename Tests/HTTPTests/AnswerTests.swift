import HTTP
import Testing

/// What a handler answers is sent as it is, or not at all.
@Suite(.serialized) struct AnswerTests {
    private func answer(with response: HTTPResponse) async throws -> (RawResponse?, [HTTPEvent]) {
        let events = Recorder<HTTPEvent>()
        let received = Recorder<RawResponse>()
        try await withServer(.quick, HTTPHandler { _ in response }) { server in
            let (responses, end) = try await server.exchange("GET /a HTTP/1.0\r\n\r\n")
            #expect(responses.count == 1)
            #expect(end == .closed)
            try await server.events.wait { if case .served = $0 { true } else { false } }
            for response in responses { received.append(response) }
            for event in server.events.all { events.append(event) }
        }
        return (received.all.first, events.all)
    }

    @Test func statusFieldsAndBodyArrive() async throws {
        let body = (0...255).map { UInt8($0) }
        var fields: HTTPFields = ["X-A": "1", "Content-Type": "text/plain; charset=utf-8"]
        fields.append("X-A", "two words\tand a tab")
        let (response, events) = try await answer(with: HTTPResponse(.created, fields: fields, body: body))
        #expect(response?.status == 201)
        #expect(response?.body == body)
        #expect(response?.fields.all("x-a") == ["1", "two words\tand a tab"])
        #expect(response?.fields["Date"]?.hasSuffix(" GMT") == true)
        #expect(response?.fields["Content-Length"] == "256")
        guard case .served(let request, .created, let bytes, let duration) = events.last else {
            Issue.record("not reported as served")
            return
        }
        #expect(request.path == "/a")
        #expect(bytes > 256)
        #expect(duration >= .zero)
    }

    @Test(arguments: [
        "a\r\nX-Evil: b", "a\r\n\r\nHTTP/1.1 200 OK", "a\nb", "a\rb", "a\0b", "a\u{1}b", "a\u{7F}", "caf\u{E9}", "\r",
        "\n",
        "a\u{D}\u{A}", "\u{2028}", "\u{10A}",
    ])
    func aValueThatMustNotBeSentBecomesA500(value: String) async throws {
        try await expectReplaced(HTTPResponse(.ok, fields: ["X-A": value], body: Array("secret".utf8)))
    }

    @Test(arguments: ["", " ", "X A", "X:", "X\r\nY", "X\n", "caf\u{E9}", "X\0", "(X)"])
    func aNameThatIsNoneBecomesA500(name: String) async throws {
        try await expectReplaced(HTTPResponse(.ok, fields: [name: "a"]))
    }

    @Test(arguments: [
        "Content-Length", "content-length", "Transfer-Encoding", "Connection", "Upgrade", "Trailer",
    ])
    func aFieldOfTheListenersBecomesA500(name: String) async throws {
        try await expectReplaced(HTTPResponse(.ok, fields: [name: "5"]))
    }

    @Test func aDateOfTheHandlersIsTheOnlyOne() async throws {
        let date = "Thu, 01 Jan 1970 02:16:40 GMT"
        let (received, _) = try await answer(with: HTTPResponse(.ok, fields: ["date": date]))
        #expect(received?.status == 200)
        #expect(received?.fields.all("Date") == [date])
    }

    @Test(arguments: [0, 99, 100, 101, 199, 600, 1_000, -1, Int.max])
    func aStatusThatIsNoneBecomesA500(status: Int) async throws {
        // With a body, for 0 alone says that there is to be no answer.
        try await expectReplaced(HTTPResponse(HTTPStatus(rawValue: status), body: [0x61]))
    }

    private func expectReplaced(_ response: HTTPResponse) async throws {
        let (received, events) = try await answer(with: response)
        #expect(received?.status == 500)
        #expect(received?.text.contains(#""code":"internal_error""#) == true)
        #expect(received?.fields["X-Evil"] == nil)
        #expect(events.contains { if case .unsendable(let request) = $0 { request.path == "/a" } else { false } })
    }

    @Test(arguments: [204, 304])
    func someAnswersHaveNoBody(status: Int) async throws {
        let response = HTTPResponse(HTTPStatus(rawValue: status), body: Array("never".utf8))
        let (received, _) = try await answer(with: response)
        #expect(received?.status == status)
        #expect(received?.body == [])
        #expect(received?.fields["Content-Length"] == nil)
    }

    /// Each code is told to clients, who may depend on it.
    @Test func everyRefusalIsAProblem() {
        for refusal in HTTPRefusal.allCases {
            let response = refusal.response
            let text = String(decoding: response.body, as: UTF8.self)
            let isRetryable = response.fields["Retry-After"] != nil
            #expect(text.hasSuffix(#""code":"\#(refusal.rawValue)","retryable":\#(isRetryable)}"#))
            #expect(text.contains(#""status":\#(refusal.status.rawValue),"#))
            #expect(response.fields.isSendable)
            // Who was too slow, and who came while there was too much, is not to give up the purchase.
            #expect(isRetryable == [.serviceUnavailable, .requestTimeout].contains(response.status))
            #expect(!response.status.phrase.isEmpty)
        }
    }
}
