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
    static let budget = Duration.seconds(6)

    /// strace counts the calls of each thread by itself: a run over files that exist already has nearly all of them
    /// on the writer's thread, so that no place of its way is hidden behind one of the opening's.
    @Test(arguments: ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "openat", "write"], [false, true])
    func nothingAcknowledgedIsLost(call: String, filesExist: Bool) async throws {
        let count = try await TemporaryFolder.with { folder in
            if filesExist { try await StoreProbe.prepare(folder + "/data") }
            return try await StoreProbe.calls(of: call, folder: folder + "/data", purchases: Self.purchases)
        }
        let start = ContinuousClock.now
        var swept = 0
        var killed = 0
        var place = 1
        while place <= count {
            try await TemporaryFolder.with { folder in
                if filesExist { try await StoreProbe.prepare(folder + "/data") }
                let said = try await StoreProbe.run(
                    folder: folder + "/data",
                    purchases: Self.purchases,
                    options: ["-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(place)"]
                )
                if said.last != "closed" { killed += 1 }
                try await Self.look(into: folder + "/data", said: said, "\(call) \(place) of \(count)")
            }
            swept += 1
            let spent = ContinuousClock.now - start
            let pace = spent / swept
            let left = max(Int((Self.budget - spent) / pace), 1)
            place += max((count - place + left) / left, 1)
        }
        // Were nothing killed, nothing would have been tried.
        #expect(killed > 0 || count == 0)
        #expect(filesExist == false || call != "pwrite64" || killed == swept)
    }

    private static func look(into folder: String, said: [String], _ place: Comment) async throws {
        let acknowledged = StoreProbe.acknowledged(in: said)
        guard let store = try reopen(folder) else {
            #expect(acknowledged.isEmpty, place)
            return
        }
        #expect(try await store.integrityProblems() == [], place)
        let keys = try (0..<purchases).map { try Samples.key($0, app: "probe") }
        let found = try await store.read { reader throws(StoreFailure) in
            (
                try reader.transactions(keys).map(\.id.number), try reader.figures(),
                try reader.pendingSubmissions(app: nil, after: nil, limit: 20).submissions.map(\.submission.customer)
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
        let expected = (0..<purchases).map { "\($0) \(found.0.contains($0) ? "known" : "new")" }
        #expect(again == expected + ["closed"], place)
    }

    /// `nil` when the writer was ended before it had made a folder.
    private static func reopen(_ folder: String) throws -> SQLiteStore? {
        guard FileManager.default.fileExists(atPath: folder) else { return nil }
        return try SQLiteStore.open(folder: folder)
    }
}
