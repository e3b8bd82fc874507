import Encoding
import PurchaseModel
import Storage
import Testing

/// `assay check` tells where the audit log's chain ends, and whether a head that was noted still stands in it.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct AuditHeadTests {
    private static func note(_ count: Int64, in folder: ServerFolder) async throws {
        let store = try SQLiteStore.open(folder: folder.data)
        let result: Result<Void, any Error>
        do {
            try await store.write { write throws(StoreFailure) in
                for number in 0..<count {
                    let at = Timestamp(milliseconds: number)
                    let action = AdminAction(at: at, admin: AdminName("ann"), remote: "192.0.2.1", action: "signed_in")
                    try write.noteAdminAction(action)
                }
            }
            result = .success(())
        } catch { result = .failure(error) }
        await store.close()
        try result.get()
    }

    private static func check(_ folder: ServerFolder, _ more: String...) async throws -> Program.Run {
        try await Program.run(["check", "--data", folder.data] + more)
    }

    /// As the program tells it, to be noted.
    private static func head(_ folder: ServerFolder) async throws -> String {
        let run = try await check(folder, "--json")
        #expect(run.code == 0, "\(run.errorText)")
        let found = try #require(try JSONDocument(run.output.dropLast()).root.object)
        let head = try #require(found["audit_head"]?.object)
        let (number, digest) = (try #require(head["number"]?.int64), try #require(head["sha256"]?.string))
        let text = try await check(folder)
        #expect(text.text.contains("\n  audit head     \(number):\(digest)\n"))
        #expect(text.text.contains("\n  audit rows     \(number)\n") && found["audit_rows"]?.int64 == number)
        return "\(number):\(digest)"
    }

    @Test func aHeadThatWasNotedStaysInTheChain() async throws {
        try await ServerFolder.with { folder in
            try await Self.note(3, in: folder)
            let head = try await Self.head(folder)
            #expect(head.hasPrefix("3:"))
            #expect(try await Self.check(folder, "--audit-head", head).code == 0)
            try await Self.note(2, in: folder)
            #expect(try await Self.head(folder).hasPrefix("5:"))
            #expect(try await Self.check(folder, "--audit-head", head.uppercased()).code == 0)
            let other = "2:" + head.dropFirst(2)
            let found = try await Self.check(folder, "--audit-head", other)
            #expect(found.code == 1)
            let line = "audit_chain_broken number=2 place=2: it was noted elsewhere, and its link is another; "
            #expect(found.text.contains(line), "\(found.text)")
        }
    }

    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"))
    func anEndThatWasCutOffIsTold() async throws {
        try await ServerFolder.with { folder in
            try await Self.note(3, in: folder)
            let head = try await Self.head(folder)
            try Tampering.run("DELETE FROM admin_actions WHERE link_number = 3", folder)
            #expect(try await Self.check(folder).code == 0)
            let found = try await Self.check(folder, "--audit-head", head)
            #expect(found.code == 1)
            let line = "audit_chain_broken number=3: it was noted elsewhere, and the log has no such link; "
            #expect(found.text.contains(line), "\(found.text)")
        }
    }

    /// A copy is none the worse for it, and who looked into it is told no more of it.
    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"))
    func whatWasBrokenOnceIsNotInTheWayForGood() async throws {
        try await ServerFolder.with { folder in
            try await Self.note(3, in: folder)
            let head = try await Self.head(folder)
            try Tampering.run("UPDATE admin_actions SET detail = 'x' WHERE link_number = 2", folder)
            let (copy, other) = (folder.path + "/copy.sqlite", folder.path + "/other")
            #expect(try await Program.run(["backup", "--data", folder.data, "--to", copy]).code == 0)
            for words in [["backup", "--verify", copy], ["restore", "--from", copy, "--data", other]] {
                let run = try await Program.run(words)
                #expect(run.code == 0 && run.text.contains("audit_chain_broken number=2"), "\(run.text)")
            }
            #expect(try await Self.check(folder).code == 1)
            let sound = try await Self.check(folder, "--audit-from", head)
            #expect(sound.code == 0 && sound.text.hasSuffix("  audit head     \(head)\n"), "\(sound.text)")
            let found = try await Self.check(folder, "--audit-from", "2:" + head.dropFirst(2))
            #expect(found.code == 1 && found.text.contains("it was to be gone on from, and its link is another"))
            let older = try await Self.check(folder, "--audit-from", head, "--audit-head", "2:" + head.dropFirst(2))
            #expect(older.code == 2 && older.errorText.contains("--audit-head is before --audit-from"))
        }
    }

    @Test(arguments: ["", "3", "3:", ":", "3:12", "0:\(zeros)", "x:\(zeros)", "3:\(zeros):", "3:x\(zeros.dropFirst())"])
    func whatIsNoHeadIsSaid(text: String) async throws {
        try await ServerFolder.with { folder in
            for option in ["--audit-head", "--audit-from"] {
                let run = try await Self.check(folder, "\(option)=\(text)")
                #expect(run.code == 2)
                #expect(run.errorText.contains("is no head of the audit log"), "\(run.errorText)")
                #expect(run.errorText.contains("\(option) NUMBER:SHA256"))
            }
        }
    }

    private static let zeros = String(repeating: "0", count: 64)
}
