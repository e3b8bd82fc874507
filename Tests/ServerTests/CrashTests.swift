import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// A server that is killed loses nothing that it acknowledged.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .serialized) struct CrashTests {
    static let rounds = 20
    private static let clients = 4

    @Test func killedUnderLoadItKeepsWhatItAcknowledged() async throws {
        var random = SeededRandom(seed: 1)
        try await ServerFolder.with { folder in
            var sent: [Int64: [UInt8]] = [:]
            var acknowledged: [Int64: String] = [:]
            for round in 0..<Int64(Self.rounds) {
                let server = try await folder.serve()
                await Self.check(acknowledged, bodies: sent, on: server)
                acknowledged = [:]
                sent = try Dictionary(
                    uniqueKeysWithValues: (round * 100..<round * 100 + 40).map { number in
                        (number, Purchase.body(try Purchase.jws(number)))
                    }
                )
                let bodies = sent.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
                let (last, pause) = (
                    Int.random(in: 0...5, using: &random), UInt32.random(in: 0...4_000, using: &random)
                )
                let port = server.port
                let results = await Threads.run(Self.clients) { index in
                    let own = stride(from: index, to: bodies.count, by: Self.clients).map { bodies[$0] }
                    if index == 0, last == 0 {
                        usleep(pause)
                        server.kill()
                    }
                    return LoadResult.send(own, to: port) { count in
                        guard index == 0, count == last else { return }
                        usleep(pause)
                        server.kill()
                    }
                }
                #expect(await server.exitCode() == -SIGKILL)
                for (number, recordedAt) in results.flatMap(\.recorded) { acknowledged[number] = recordedAt }
            }
            let server = try await folder.serve()
            await Self.check(acknowledged, bodies: sent, on: server)
            server.stop()
            #expect(await server.exitCode() == 0)
            let store = try SQLiteStore.open(folder: folder.data)
            #expect(try await store.integrityProblems() == [])
            await store.close()
        }
    }

    /// Sends everything of the last round again: what was acknowledged is answered as it was.
    private static func check(
        _ acknowledged: [Int64: String],
        bodies: [Int64: [UInt8]],
        on server: ServerProcess
    ) async {
        let answers = await server.talk { client in bodies.mapValues { client.post($0) } } ?? [:]
        for (number, answer) in answers {
            #expect(answer?.status == 200)
            guard let recordedAt = acknowledged[number] else { continue }
            #expect(answer?.result == "already_recorded")
            #expect(answer?.first("recorded_at") == recordedAt)
        }
    }
}
