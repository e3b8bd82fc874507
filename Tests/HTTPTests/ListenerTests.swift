import Glibc
import HTTP
import Testing

/// Opening a listener, and what it does when the machine has no more to give.
@Suite(.serialized) struct ListenerTests {
    @Test func portZeroIsAFreePort() throws {
        let first = try TestServer(.quick, .describing)
        let second = try TestServer(.quick, .describing)
        #expect(first.port != 0)
        #expect(first.port != second.port)
    }

    @Test(arguments: ["", "nonsense", "localhost", "256.0.0.1", "127.0.0.1:80"])
    func anAddressThatIsNoneIsRefused(address: String) {
        #expect(throws: HTTPListenerFailure(errno: EINVAL)) {
            try TestServer(.quick, .describing, address: address)
        }
    }

    @Test func aPortInUseIsRefused() throws {
        let first = try TestServer(.quick, .describing)
        #expect(throws: HTTPListenerFailure(errno: EADDRINUSE)) {
            _ = try HTTPListener(address: "127.0.0.1", port: first.port, lanes: 1, handler: .describing) { _ in }
        }
    }

    /// Its old connections may still be in TIME_WAIT.
    @Test func aPortCanBeTakenAgainAtOnce() async throws {
        for _ in 0..<2 {
            let listener = try HTTPListener(
                address: "127.0.0.1",
                port: 0,
                limits: .quick,
                lanes: 1,
                handler: .describing
            ) { _ in }
            let port = listener.port
            for listener in [listener, nil] {
                let listener = try listener ?? TestServer.again(port)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await listener.run() }
                    try await blocking {
                        let client = try RawClient(port: port)
                        client.send("GET /a HTTP/1.0\r\n\r\n")
                        #expect(client.response()?.status == 200)
                    }
                    listener.stop()
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test func bothKindsOfClientsComeThroughTheAnyAddress() async throws {
        let server = try TestServer(.quick, .describing, address: "::")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.listener.run() }
            let (responses, _) = try await server.exchange("GET /a HTTP/1.0\r\n\r\n")
            #expect(responses.map(\.status) == [200])
            server.listener.stop()
            try await group.waitForAll()
        }
        guard case .accepted(let remote) = server.events.all.first else {
            Issue.record("not accepted")
            return
        }
        #expect(remote.description == "127.0.0.1")
    }

    /// In a process of its own, whose descriptors can be counted out.
    @Test func withoutDescriptorsItWaitsAndRecovers() async {
        await #expect(processExitsWith: .success) {
            let request = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"
            try await withServer { server in
                try await Task.sleep(for: .milliseconds(1))
                let port = server.port
                let clients = try (0..<10).map { _ in try RawClient() }
                Descriptors.leave(4)
                try await blocking {
                    for client in clients {
                        try client.connect(port: port)
                        client.send(request)
                    }
                    for client in clients.prefix(4) { #expect(client.response()?.status == 200) }
                    pause(milliseconds: 500)
                }
                // Tried now and then, not all the time: the listener would have spun thousands of times by now.
                let tries = server.events.all.filter { if case .exhausted(EMFILE) = $0 { true } else { false } }
                #expect((1...60).contains(tries.count))
                try await blocking {
                    for client in clients.prefix(4) { client.close() }
                    for client in clients[4..<8] {
                        #expect(client.response()?.status == 200)
                        client.close()
                    }
                    for client in clients[8...] { #expect(client.response()?.status == 200) }
                }
            }
        }
    }
}

extension TestServer {
    fileprivate static func again(_ port: UInt16) throws -> HTTPListener {
        try HTTPListener(address: "127.0.0.1", port: port, limits: .quick, lanes: 1, handler: .describing) { _ in }
    }
}
