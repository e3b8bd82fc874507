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
            try ListenerTests.listener(on: first.port)
        }
    }

    /// Its old connections are still in TIME_WAIT.
    @Test func aPortCanBeTakenAgainAtOnce() async throws {
        // Another process may be quicker now and then, but not each time.
        for _ in 0..<5 {
            let first = try TestServer(.quick, .describing)
            try await ListenerTests.serveOnce(first.listener)
            guard let second = try? ListenerTests.listener(on: first.port) else { continue }
            try await ListenerTests.serveOnce(second)
            return
        }
        Issue.record("the port was never free")
    }

    private static func listener(on port: UInt16) throws -> HTTPListener {
        try HTTPListener(address: "127.0.0.1", port: port, limits: .quick, lanes: 1, handler: .describing) { _ in }
    }

    private static func serveOnce(_ listener: HTTPListener) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await listener.run() }
            let status = try await blocking {
                let client = try RawClient(port: listener.port)
                client.send("GET /a HTTP/1.0\r\n\r\n")
                return client.response()?.status
            }
            #expect(status == 200)
            listener.stop()
            try await group.waitForAll()
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
                let port = server.port
                let clients = try (0..<12).map { _ in try RawClient() }
                // Dispatch opens a descriptor for its first timer, and stops the process when it gets none.
                try await Task.sleep(for: .milliseconds(5))
                Descriptors.leave(6)
                try await blocking {
                    for client in clients {
                        try client.connect(port: port)
                        client.send(request)
                    }
                    while !server.events.all.contains(where: ListenerTests.isExhausted) { pause(milliseconds: 5) }
                    pause(milliseconds: 300)
                }
                // Tried now and then, not all the time: the listener would have spun many thousand times by now.
                #expect(server.events.all.filter(ListenerTests.isExhausted).count <= 500)
                try await blocking {
                    for client in clients {
                        #expect(client.response()?.status == 200)
                        client.close()
                    }
                }
            }
        }
    }

    private static func isExhausted(_ event: HTTPEvent) -> Bool {
        if case .exhausted(EMFILE) = event { true } else { false }
    }
}
