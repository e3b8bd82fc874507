import Foundation
import Storage
import Testing

/// Ends a running server at the system calls by which one purchase reaches the disk, and looks at what a client finds
/// afterwards.
@Suite(
    .enabled(if: Program.isBuilt && Strace.isPermitted, "strace is missing or not permitted: nothing is swept"),
    .serialized
)
struct SyscallSweepTests {
    /// The longest that one kind of call is swept; what does not fit is skipped evenly.
    private static let budget = Duration.seconds(8)

    /// What a client and the disk say of one purchase, during which the server was killed.
    private enum Fate {
        /// No call was left to be killed at.
        case survived
        case acknowledged
        /// On disk, and nobody was told.
        case committed
        case nothing
    }

    /// strace counts the calls of each thread by itself, and the files exist already: nearly all are the writer's.
    @Test(arguments: ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "sendmsg"])
    func whateverIsAcknowledgedIsThereAndWhatIsThereIsRepeated(call: String) async throws {
        try await ServerFolder.with { folder in
            let first = try await folder.serve()
            #expect(await first.post(Purchase.body(try Purchase.jws(0)))?.result == "recorded")
            first.stop()
            #expect(await first.exitCode() == 0)
            let total = try await count(call, folder)
            let began = ContinuousClock.now
            var fates: [Fate] = []
            var place = 1
            while place <= total {
                fates.append(try await sweep(call, at: place, folder))
                let spent = ContinuousClock.now - began
                let left = max(Int((Self.budget - spent) / (spent / fates.count)), 1)
                place += max((total - place + left) / left, 1)
            }
            let told = [Fate.acknowledged, .committed, .nothing].map { fate in fates.count { $0 == fate } }
            print(
                "\(call): \(fates.count) of \(total) places; acknowledged \(told[0]), committed untold \(told[1]),",
                "nothing \(told[2])"
            )
            let store = try SQLiteStore.open(folder: folder.data)
            #expect(try await store.integrityProblems() == [])
            await store.close()
        }
    }

    @Test func aDiskThatFailsIsNoSuccessAndNotReady() async throws {
        try await ServerFolder.with { folder in
            let (known, new) = (Purchase.body(try Purchase.jws(1)), Purchase.body(try Purchase.jws(2)))
            let first = try await folder.serve()
            let recorded = try #require(await first.post(known))
            let id = try #require(recorded.first("transaction_id"))
            first.stop()
            #expect(await first.exitCode() == 0)

            let log = folder.data + "/assay.sqlite-wal"
            let options = ["-o", "/dev/null", "-P", log, "-e", "inject=fdatasync:error=EIO:when=1+"]
            let failing = try await folder.serve(under: trace("fdatasync", folder, options))
            #expect(await failing.get("/readyz")?.status == 200)
            let refused = await failing.post(new)
            #expect(refused?.status == 503)
            #expect(refused?.code == "storage_failed")
            #expect(await failing.get("/readyz")?.status == 503)
            #expect(await failing.get("/livez")?.status == 200)
            #expect(await failing.get("/v1/transactions/\(id)")?.status == 200)
            // Nothing is promised any more, although a second try might seem to succeed.
            #expect(await failing.post(new)?.status == 503)
            #expect(failing.errors.text.contains("commit_failed"))
            failing.stop()
            #expect(await failing.exitCode() == 0)

            let next = try await folder.serve()
            #expect(await next.post(known)?.transactions == recorded.transactions)
            #expect(await next.post(new)?.status == 200)
        }
    }

    /// How often the busiest thread makes the call from start to stop, one purchase between them.
    private func count(_ call: String, _ folder: ServerFolder) async throws -> Int {
        let log = folder.path + "/trace"
        let server = try await folder.serve(under: trace(call, folder, ["-o", log]))
        #expect(await server.post(Purchase.body(try Purchase.jws(1)))?.result == "recorded")
        server.stop()
        _ = await server.exitCode()
        let text = try String(contentsOfFile: log, encoding: .utf8)
        let threads = text.split(separator: "\n").filter { $0.contains(call + "(") }.map { $0.prefix { $0 != " " } }
        return Dictionary(grouping: threads) { $0 }.values.map(\.count).max() ?? 0
    }

    private func sweep(_ call: String, at place: Int, _ folder: ServerFolder) async throws -> Fate {
        let body = Purchase.body(try Purchase.jws(Int64(1_000 + place)))
        let comment: Comment = "\(call) \(place)"
        let options = ["-o", "/dev/null", "-e", "inject=\(call):signal=KILL:when=\(place)"]
        // Ended while it opened the store: then nothing was sent.
        let server = try? await folder.serve(under: trace(call, folder, options))
        let answer = await server?.post(body)
        server?.stop()
        let code = await server?.exitCode()

        let next = try await folder.serve()
        let again = try #require(await next.post(body), comment)
        next.stop()
        #expect(await next.exitCode() == 0, comment)
        #expect(again.status == 200, comment)
        if let answer {
            #expect(answer.result == "recorded", comment)
            #expect(again.result == "already_recorded", comment)
            #expect(again.transactions == answer.transactions, comment)
            return code == 0 ? .survived : .acknowledged
        }
        return again.result == "already_recorded" ? .committed : .nothing
    }

    private func trace(_ call: String, _ folder: ServerFolder, _ options: [String]) -> [String] {
        // Writes to the shared memory file promise nothing.
        let files =
            call == "pwrite64" ? ["-P", folder.data + "/assay.sqlite", "-P", folder.data + "/assay.sqlite-wal"] : []
        return ["/usr/bin/strace", "-f", "-qq", "-e", "trace=\(call)"] + files + options
    }
}

/// The tool that stops a program at a system call.
enum Strace {
    static let isPermitted: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/strace")
        process.arguments = ["-f", "-qq", "-o", "/dev/null", "/bin/true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
