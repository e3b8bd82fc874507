import Foundation
import Synchronization

/// Threads for what blocks, so that the tests' own threads never wait for a socket.
enum Threads {
    /// Runs the body on so many threads at once, and waits for all of them.
    static func run<Value: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> Value) async -> [Value] {
        await withTaskGroup(of: (Int, Value).self) { group in
            for index in 0..<count {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread { continuation.resume(returning: (index, body(index))) }
                    }
                }
            }
            var values: [(Int, Value)] = []
            for await value in group { values.append(value) }
            return values.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}

extension ServerProcess {
    /// Talks to the server over one connection.
    func talk<Value: Sendable>(_ body: @escaping @Sendable (WireClient) -> Value) async -> Value? {
        let port = port
        return await Threads.run { WireClient(port: port).map(body) }
    }

    func get(_ path: String, key: String? = ServerFolder.key) async -> WireClient.Answer? {
        await talk { $0.get(path, key: key) } ?? nil
    }

    func post(_ body: [UInt8], key: String = ServerFolder.key) async -> WireClient.Answer? {
        await talk { $0.post(body, key: key) } ?? nil
    }
}
