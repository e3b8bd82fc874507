import Foundation
import Storage
import TestSupport
import Testing

/// Ends a running server at every system call by which purchases reach the disk and their answers the client, starts it
/// again, and sends everything again.
///
/// By default so many places of each call as fit into a few seconds, spread evenly over the run; with
/// `ASSAY_SWEEP=long` in the environment all of them.
@Suite(
    .enabled(if: Program.isBuilt && Strace.isPermitted, "strace is missing or not permitted: nothing is swept"),
    .serialized
)
struct SyscallSweepTests {
    /// What the server finds when it starts.
    enum Ledger: CaseIterable {
        case none
        case closed
        /// A server was killed when its log was so long that the next round has it brought into the database.
        case longLog
    }

    /// The longest that one kind of call is swept over one kind of ledger.
    private static let budget =
        ProcessInfo.processInfo.environment["ASSAY_SWEEP"] == "long" ? Duration.seconds(86_400) : .seconds(3)
    /// How many deaths one closed ledger sees: all that was ever sent to it is sent again after each.
    private static let deathsMax = 8

    /// All that a server does to files, and how it answers. That there are no others is a test, too.
    static let calls = [
        "pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "openat", "mkdir", "fchmod", "fchown", "write",
        "sendmsg",
    ]
    /// What could change a file, too.
    static let others = [
        "writev", "pwritev", "pwritev2", "sync_file_range", "sync", "syncfs", "fallocate", "truncate", "rename",
        "renameat", "renameat2", "unlinkat", "rmdir", "link", "linkat", "symlink", "creat", "mkdirat", "sendfile",
        "copy_file_range", "splice", "msync", "io_uring_enter", "io_submit", "sendto",
    ]

    /// strace counts the calls of each thread by itself.
    @Test(arguments: calls, Ledger.allCases)
    func whateverIsAcknowledgedIsThereOnceAndIsRepeated(call: String, ledger: Ledger) async throws {
        try await ServerFolder.with { template in
            let history = try await Self.prepare(template, ledger)
            let total = try await Self.copy(of: template) { folder in try await Self.count(call, folder, history) }
            let began = ContinuousClock.now
            var (swept, killed, acknowledged, untold) = (0, 0, 0, 0)
            var place = 1
            while place <= total {
                try await Self.copy(of: template) { folder in
                    var history = history
                    repeat {
                        let comment: Comment = "\(call) \(place) of \(total), ledger: \(ledger)"
                        if try await Self.sweep(call, at: place, folder, &history, comment) { killed += 1 }
                        (acknowledged, untold) = (acknowledged + history.acknowledged, untold + history.untold)
                        swept += 1
                        let spent = ContinuousClock.now - began
                        let left = max(Int((Self.budget - spent) / (spent / swept)), 1)
                        place += max((total - place + left) / left, 1)
                    } while place <= total && ledger == .closed && swept % Self.deathsMax != 0
                    try await history.check(ledger: folder.data)
                }
            }
            print(
                "\(call), ledger \(ledger): \(swept) of \(total) places, killed at \(killed);",
                "repeated \(acknowledged) acknowledged, found \(untold) committed and untold"
            )
            // Were nothing killed, nothing would have been tried.
            #expect(killed > 0 || total == 0)
            #expect(total > 0 || !["pwrite64", "fdatasync", "sendmsg"].contains(call))
        }
    }

    @Test(arguments: Ledger.allCases) func noOtherCallChangesAFile(ledger: Ledger) async throws {
        try await ServerFolder.with { folder in
            var history = try await Self.prepare(folder, ledger)
            let log = folder.path + "/trace"
            let names = Self.others.map { "?" + $0 }.joined(separator: ",")
            let server = try await folder.serve(
                under: ["/usr/bin/strace", "-f", "-qq", "-o", log, "-e", "signal=none", "-e", "trace=" + names]
            )
            try await history.send(to: server)
            server.stop()
            #expect(await server.exitCode() == 0)
            let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            // Of a thread that ends, or ends with the process before it has made a call, the tool knows no call, and says so;
            // libcurl wakes its own thread by a byte.
            let wake = #""\1", 1, MSG_NOSIGNAL, NULL, 0)"#
            let calls = lines.filter { !$0.contains(" ???( <") && !$0.contains(wake) }
            #expect(calls.isEmpty)
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
            // A start writes nothing.
            let options = ["-o", "/dev/null", "-P", log, "-e", "inject=fdatasync:error=EIO:when=1+"]
            let failing = try await folder.serve(under: Self.trace("fdatasync", folder, options))
            #expect(await failing.get("/readyz")?.status == 200, "\(failing.errors.text)")
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

    /// Makes the ledger that the sweep starts from, and tells what was sent to it.
    private static func prepare(_ folder: ServerFolder, _ ledger: Ledger) async throws -> SweepHistory {
        var history = SweepHistory()
        guard ledger != .none else { return history }
        let server = try await folder.serve()
        try await history.send(to: server)
        if ledger == .longLog {
            try await history.fillLog(of: server, folder.data + "/assay.sqlite-wal", pages: 985)
            server.kill()
        } else {
            server.stop()
        }
        #expect(await server.exitCode() == (ledger == .longLog ? -SIGKILL : 0))
        return history
    }

    private static func copy<Value>(
        of template: ServerFolder,
        _ body: (ServerFolder) async throws -> Value
    ) async throws -> Value {
        try await ServerFolder.with { folder in
            if FileManager.default.fileExists(atPath: template.data) {
                try FileManager.default.copyItem(atPath: template.data, toPath: folder.data)
            }
            return try await body(folder)
        }
    }

    /// How often the busiest thread makes the call from start to stop.
    private static func count(_ call: String, _ folder: ServerFolder, _ history: SweepHistory) async throws -> Int {
        let log = folder.path + "/trace"
        let server = try await folder.serve(under: trace(call, folder, ["-o", log]))
        var history = history
        try await history.send(to: server)
        server.stop()
        #expect(await server.exitCode() == 0)
        let text = try String(contentsOfFile: log, encoding: .utf8)
        let threads = text.split(separator: "\n").filter { $0.contains(call + "(") }.map { $0.prefix { $0 != " " } }
        return Dictionary(grouping: threads) { $0 }.values.map(\.count).max() ?? 0
    }

    /// - Returns: whether it was killed at all.
    private static func sweep(
        _ call: String,
        at place: Int,
        _ folder: ServerFolder,
        _ history: inout SweepHistory,
        _ comment: Comment
    ) async throws -> Bool {
        let options = ["-o", "/dev/null", "-e", "inject=\(call):signal=KILL:when=\(place)"]
        // Ended while it opened the store: then nothing was sent.
        let server = try? await folder.serve(under: trace(call, folder, options))
        if let server {
            try await history.send(to: server)
            server.stop()
        }
        let code = await server?.exitCode()
        let next = try await folder.serve()
        await history.replay(on: next, comment)
        next.stop()
        let end = await next.exitCode()
        #expect(end == 0, "\(comment.rawValue); its last words: \(next.errors.text)")
        return code != 0
    }

    private static func trace(_ call: String, _ folder: ServerFolder, _ options: [String]) -> [String] {
        // Of the shared memory file nothing is promised, and the other files are not the ledger's.
        let names = ["", "/assay.sqlite", "/assay.sqlite-wal", "/assay.lock"]
        let files = ["write", "sendmsg"].contains(call) ? [] : names.flatMap { ["-P", folder.data + $0] }
        return ["/usr/bin/strace", "-f", "-qq", "-e", "trace=\(call)"] + files + options
    }
}

/// The tool that stops a program at a system call.
enum Strace {
    static let isPermitted: Bool = {
        let strace = ChildProcess(["/usr/bin/strace", "-f", "-qq", "-o", "/dev/null", "/bin/true"])
        return (try? strace.start().waitUntilExit()) == 0
    }()
}
