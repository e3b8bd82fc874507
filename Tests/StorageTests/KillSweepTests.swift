import Foundation
import PurchaseModel
import Storage
import Testing

/// Ends a writer at every system call by which it changes the disk, and looks at what is left.
///
/// A purchase that was acknowledged must be there; one that was not may be, and then a repetition must find it.
@Suite(.serialized, .enabled(if: StoreProbe.canBeTraced, "strace is missing or not permitted: nothing is swept"))
struct KillSweepTests {
    static let purchases: Int64 = 6
    /// The longest that one kind of call is swept; what does not fit is skipped evenly over the run.
    static let budget = Duration.seconds(20)

    @Test(arguments: ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "openat", "write"])
    func nothingAcknowledgedIsLost(call: String) async throws {
        let count = try await TemporaryFolder.with { folder in
            try await StoreProbe.calls(of: call, folder: folder + "/data", purchases: Self.purchases)
        }
        let start = ContinuousClock.now
        var swept = 0
        var place = 1
        while place <= count {
            try await TemporaryFolder.with { folder in
                let said = try await StoreProbe.run(
                    folder: folder + "/data",
                    purchases: Self.purchases,
                    options: ["-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(place)"]
                )
                try await Self.look(into: folder + "/data", said: said, "\(call) \(place) of \(count)")
            }
            swept += 1
            let spent = ContinuousClock.now - start
            let pace = spent / swept
            let left = max(Int((Self.budget - spent) / pace), 1)
            place += max((count - place + left) / left, 1)
        }
        #expect(swept > 0 || count == 0)
    }

    private static func look(into folder: String, said: [String], _ place: Comment) async throws {
        let acknowledged = said.compactMap { Int64($0.prefix { $0 != " " }) }
        guard let store = try reopen(folder) else {
            #expect(acknowledged.isEmpty, place)
            return
        }
        #expect(try await store.integrityProblems() == [], place)
        let keys = try (1...purchases).map { try Samples.key($0, app: "probe") }
        let found = try await store.read { reader throws(StoreFailure) in
            (
                try reader.transactions(keys).map(\.id.number), try reader.figures(),
                try reader.pendingSubmissions(app: nil, after: nil, limit: 100).submissions.map(\.submission.customer)
            )
        }
        #expect(found.0.starts(with: acknowledged), place)
        #expect(found.0.count <= acknowledged.count + 1, place)
        // What was written together is there together.
        #expect(found.1.evidence == found.0.count, place)
        #expect(found.2.map { $0?.text } == found.0.map { "customer-\($0)" }, place)
        await store.close()
        // A client that never heard an answer asks again, and gets the first one.
        let again = try await StoreProbe.run(folder: folder, purchases: purchases, options: nil)
        let expected = (1...purchases).map { "\($0) \(found.0.contains($0) ? "known" : "new")" }
        #expect(again == expected + ["closed"], place)
    }

    /// `nil` when the writer was ended before it had made a folder.
    private static func reopen(_ folder: String) throws -> SQLiteStore? {
        guard FileManager.default.fileExists(atPath: folder) else { return nil }
        return try SQLiteStore.open(folder: folder)
    }
}

/// The small writer beside the tests.
enum StoreProbe {
    private static let path = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/StoreProbe"

    /// False when there is no strace, or it may not trace.
    static let canBeTraced: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/strace")
        process.arguments = ["-f", "-qq", "-o", "/dev/null", "/bin/true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// How often a whole run makes a call.
    static func calls(of call: String, folder: String, purchases: Int64) async throws -> Int {
        let log = folder + ".log"
        _ = try await run(folder: folder, purchases: purchases, options: ["-o", log, "-e", "trace=\(call)"])
        let text = try String(contentsOfFile: log, encoding: .utf8)
        return text.split(separator: "\n").count { $0.contains(call + "(") }
    }

    /// Runs it to its end, or to its death, and tells the lines that it said.
    static func run(folder: String, purchases: Int64, options: [String]?) async throws -> [String] {
        let process = Process()
        let output = Pipe()
        let writer = [path, folder, "\(purchases)"]
        if let options {
            process.executableURL = URL(filePath: "/usr/bin/strace")
            let log = options.contains("-o") ? [] : ["-o", "/dev/null"]
            process.arguments = ["-f", "-qq"] + log + options + writer
        } else {
            process.executableURL = URL(filePath: path)
            process.arguments = Array(writer.dropFirst())
        }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
