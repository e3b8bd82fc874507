import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `assay webhook listen`: a receiver on this machine, for whoever writes one: it is sent events for as long as it runs,
/// checks each message as a shop has to, and shows it.
struct WebhookListen {
    static let shape = CommandShape(
        name: "webhook listen",
        summary: "Receives events on this machine while it runs: checks each message, and shows it.",
        options: [
            .init("types", value: "LIST", "Only these events, with commas between them."),
            .init("include-test-signed", "Also what only a test authority vouches for."),
            .init("listen", value: "ADDRESS:PORT", "Where it receives; a free port of 127.0.0.1 if not given."),
        ] + Question.access,
        notes: [
            "It adds an endpoint at its start, and deletes it when it is stopped by Ctrl-C. The server must allow it: "
                + "\"webhooks\": {\"allowed_addresses\": \"127.0.0.0/8\", \"plain_hosts\": \"localhost\"}; where it "
                + "receives at [::1], \"::1/128\" and \"[::1]\".",
            "Exits with 0 when it was stopped, 1 when the server says no, 2 when it could not be asked. It ends with 2, too, "
                + "when nobody reads what it shows any more, and acknowledges nothing more.",
        ],
        examples: [("assay webhook listen --include-test-signed", "what the demo's shop is told")]
    )

    private let client: APIClient
    private let types: [String]
    private let includesTestSigned: Bool
    private let isJSON: Bool
    private let address: ListenAddress

    /// - Throws: ``UsageFault`` when there is no key, or no address.
    init(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        guard let address = ListenAddress(arguments.value("listen") ?? "127.0.0.1:0") else {
            throw UsageFault("--listen is an address and a port")
        }
        self.address = address
        client = try ServerAccess.client(arguments, environment)
        types = (arguments.value("types") ?? "").split(separator: ",").map(String.init)
        includesTestSigned = arguments.isSet("include-test-signed")
        isJSON = arguments.isSet("json")
    }

    /// Receives until SIGTERM or SIGINT.
    ///
    /// - Returns: the exit code.
    func run() async -> Int32 {
        // Nobody knows the secret before the endpoint is there, and its URL has the port.
        let (secrets, known) = AsyncStream.makeStream(of: WebhookSecret.self)
        let secret = Task { await secrets.first { _ in true } }
        // Once nobody reads, messages would be acknowledged that nobody has seen.
        let (losses, lost) = AsyncStream.makeStream(of: Void.self)
        let listener: HTTPListener
        do throws(HTTPListenerFailure) {
            listener = try HTTPListener(
                address: address.address,
                port: address.port,
                lanes: 1,
                handler: HTTPHandler { request in
                    guard let secret = await secret.value else { return HTTPResponse(.serviceUnavailable) }
                    let response = receive(request, secret)
                    if response.status == .serviceUnavailable { lost.yield() }
                    return response
                },
                report: { _ in }
            )
        } catch {
            Console.error("assay webhook listen: nothing can listen on \(address): \(error.sentence)")
            return 2
        }
        let signals = await StopSignals { listener.stop() }
        defer { signals.cancel() }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await listener.run()
                lost.finish()
            }
            group.addTask { for await _ in losses { listener.stop() } }
            defer { listener.stop() }
            do throws(APIClient.Fault) {
                let endpoint = try await addEndpoint(port: listener.port)
                known.yield(endpoint.secret)
                Console.error("receiving \(endpoint.url) as \(endpoint.id); Ctrl-C ends it")
                await group.waitForAll()
                _ = try await client.ask(.post, "/v1/webhooks/\(PercentCoding.encode(endpoint.id))/delete")
                return 0
            } catch {
                known.finish()
                Console.error("assay webhook listen: \(ReportText.printable("\(error)"))")
                return error.exitCode
            }
        }
    }

    private struct Endpoint {
        let id: String
        let url: String
        let secret: WebhookSecret
    }

    private func addEndpoint(port: UInt16) async throws(APIClient.Fault) -> Endpoint {
        // Plain HTTP is for hosts that the server names.
        let host = address.address == "127.0.0.1" ? "localhost" : address.address
        let url = "http://\(ListenAddress(address: host, port: port))/"
        let body = JSONWriter.object { json in
            json.member("url", url)
            if !types.isEmpty { json.array("types") { json in for type in types { json.element(type) } } }
            if includesTestSigned { json.member("include_test_signed", true) }
        }
        let answer = try await client.ask(.post, "/v1/webhooks", body)
        guard let id = answer.json?["webhook_id"]?.string,
            let secret = (answer.json?["secret"]?.string).flatMap({ WebhookSecret(text: $0) })
        else { throw .invalid("the answer has no endpoint") }
        return Endpoint(id: id, url: url, secret: secret)
    }

    /// Shows a message and says that it has arrived, if somebody can have seen it. What is not from the server is said, and
    /// refused.
    private func receive(_ request: HTTPRequest, _ secret: WebhookSecret) -> HTTPResponse {
        do throws(WebhookFault) {
            let verifier = WebhookVerifier(secrets: [secret])
            try verifier.check(request.fields, body: request.body, at: SystemClock().now)
        } catch {
            Console.error("refused: \(error.rawValue)")
            return HTTPResponse(HTTPStatus(rawValue: 401))
        }
        let line = isJSON ? String(decoding: request.body, as: UTF8.self) : Self.line(request.body)
        return HTTPResponse(Console.write(line + "\n") ? .noContent : .serviceUnavailable)
    }

    /// When, what, whose, and what it is about.
    private static func line(_ body: [UInt8]) -> String {
        guard let event = try? JSONDocument(body).root.object else { return "no JSON" }
        let data = event["data"]?.object
        let subjects = ["transaction", "subscription", "order"].compactMap { data?[$0]?.object }
        func first(_ member: String) -> String? { subjects.lazy.compactMap { $0[member]?.string }.first }
        let words = [
            event["timestamp"]?.string, event["type"]?.string, data?["customer_id"]?.string, first("product_id"),
            first("transaction_id") ?? first("original_transaction_id") ?? first("order_id"),
        ]
        return ReportText.printable(words.compactMap(\.self).joined(separator: "  "))
    }
}
