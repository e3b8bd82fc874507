import Glibc
import HTTP
import Synchronization
import Testing

/// Calls whose URL somebody else chose, over real sockets: who listens near us must not even see a connection.
@Suite struct EgressTests {
    private static func caller(allowing blocks: [String] = []) throws -> CurlCaller {
        let allowed = try blocks.map { try #require(AddressBlock($0)) }
        return CurlCaller(.outward(EgressRule(allowed: allowed), connectionsMax: 8))
    }

    /// A listener on the loopback that counts who comes.
    private struct Victim {
        let visits = Recorder<Void>()
        let server: RawServer

        init() throws {
            server = try RawServer { [visits] client in
                visits.append(())
                _ = client.readHead()
                client.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
    }

    @Test func noSpellingOfOurselvesIsConnectedTo() async throws {
        let victim = try Victim()
        let caller = try Self.caller()
        let hosts = [
            "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001",
            "0.0.0.0", "0", "localhost", "LOCALHOST", "rebind.localhost", "[::1]", "[::ffff:127.0.0.1]", "[::]",
            "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]",
            "127.0.0.1.", "user:password@127.0.0.1", "shop.example@127.0.0.1", "%31%32%37.0.0.1",
        ]
        for host in hosts {
            let url = "http://\(host):\(victim.server.port)/"
            await #expect(throws: HTTPCallFailure.self, "\(url)") { try await caller.send(HTTPCall(url: url)) }
        }
        #expect(victim.visits.all.isEmpty)
        // The same listener is there for who may call it.
        let answer = try await Self.caller(allowing: ["127.0.0.1"]).send(HTTPCall(url: victim.server.url()))
        #expect(answer.status == .ok && victim.visits.all.count == 1)
    }

    @Test(arguments: [
        "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "[fd00::1]", "[fe80::1]",
        "[fd00:ec2::254]", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
    ])
    func othersNearUsAreRefusedByName(host: String) async throws {
        let caller = try Self.caller()
        await #expect(throws: HTTPCallFailure.addressRefused) {
            try await caller.send(HTTPCall(method: .post, url: "https://\(host)/latest/meta-data/", body: [1]))
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func aRedirectIsNotFollowed(status: Int) async throws {
        let victim = try Victim()
        let target = victim.server.url("/inner")
        let requests = Recorder<String>()
        let receiver = try RawServer { client in
            while let head = client.readHead() {
                requests.append(head)
                client.send("HTTP/1.1 \(status) Elsewhere\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        // The place that it points to would even be allowed.
        let answer = try await Self.caller(allowing: ["127.0.0.0/8"]).send(HTTPCall(url: receiver.url()))
        #expect(answer.status.rawValue == status)
        #expect(requests.all.count == 1 && victim.visits.all.isEmpty)
    }

    /// A name that leads to the receiver when it is looked at, and to ourselves when it is called.
    @Test func aNameWhoseAnswerChangesGainsNothing() async throws {
        let victim = try Victim()
        let port = victim.server.port
        let handler = HTTPHandler.describing
        let receiver = try HTTPListener(address: "127.0.0.2", port: port, limits: .quick, lanes: 1, handler: handler) {
            _ in
        }
        let answers = Mutex(["127.0.0.2", "127.0.0.1", "127.0.0.1,127.0.0.2", "127.0.0.2"])
        let asked = Recorder<HTTPRemote>()
        let rule = EgressRule(allowed: [try #require(AddressBlock("127.0.0.2"))])
        var settings = CallerSettings.outward(rule, connectionsMax: 8)
        settings.addresses = { host in
            #expect(host == "shop.example")
            return answers.withLock { [$0.removeFirst()] }
        }
        settings.allows = { remote in
            asked.append(remote)
            return rule.allows(remote)
        }
        // A connection that was judged may be used again: each call has a caller of its own, to make its own.
        let call = HTTPCall(url: "http://shop.example:\(port)/")
        let results = await withTaskGroup(of: Void.self) { group in
            group.addTask { await receiver.run() }
            var results: [Result<HTTPStatus, HTTPCallFailure>] = []
            for _ in 0..<4 {
                do throws(HTTPCallFailure) {
                    results.append(.success(try await CurlCaller(settings).send(call).status))
                } catch {
                    results.append(.failure(error))
                }
            }
            receiver.stop()
            return results
        }
        #expect(results == [.success(.ok), .failure(.addressRefused), .success(.ok), .success(.ok)])
        #expect(victim.visits.all.isEmpty)
        #expect(asked.all.filter { $0.address == [127, 0, 0, 1] }.count == 2)
        #expect(answers.withLock { $0.isEmpty })
    }

    @Test func theEnvironmentsProxiesDoNotCount() async throws {
        // A process of its own: its environment is nobody else's.
        await #expect(processExitsWith: .success) {
            let seen = Recorder<Void>()
            let proxy = try RawServer { _ in seen.append(()) }
            for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
                // The texts are copied before the call returns.
                unsafe setenv(name, proxy.url(""), 1)
            }
            let victim = try Victim()
            let caller = try EgressTests.caller(allowing: ["127.0.0.1"])
            let answer = try await caller.send(HTTPCall(url: victim.server.url()))
            #expect(answer.status == .ok && seen.all.isEmpty)
            await #expect(throws: HTTPCallFailure.self) {
                try await caller.send(HTTPCall(url: "https://shop.invalid/"))
            }
            #expect(seen.all.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func aLongAnswerIsCutAndItsStatusCounts(isChunked: Bool) async throws {
        let server = try RawServer { client in
            _ = client.readHead()
            client.send("HTTP/1.1 200 OK\r\n" + (isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 9999999"))
            client.send("\r\n\r\n")
            let piece = String(repeating: "x", count: 0x1000)
            while client.send(isChunked ? "1000\r\n" + piece + "\r\n" : piece) {}
        }
        let answer = try await Self.caller(allowing: ["127.0.0.1"]).send(HTTPCall(url: server.url()))
        #expect(answer.status == .ok)
        #expect(answer.body == [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10))
    }

    @Test func anAnswerOfTheExactLengthIsWhole() async throws {
        let body = String(repeating: "x", count: 64 << 10)
        let server = try RawServer { client in
            _ = client.readHead()
            client.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
        }
        let answer = try await Self.caller(allowing: ["127.0.0.1"]).send(HTTPCall(url: server.url()))
        #expect(answer.body.count == 64 << 10)
    }
}
