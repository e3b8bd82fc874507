import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// Whatever another hand does to the audit log shows; but that its end was cut off shows by a head alone that was noted
/// elsewhere.
@Suite struct AuditCheckTests {
    /// What another hand does, and the numbers of the links that are then said to be broken.
    struct Damage: Sendable, CustomStringConvertible {
        let description: String
        let statements: [String]
        /// Empty where the row that is named has no number.
        let numbers: Set<String>

        init(_ description: String, _ numbers: Set<String>, _ statements: String...) {
            (self.description, self.numbers, self.statements) = (description, numbers, statements)
        }
    }

    private static let row = "INSERT INTO admin_actions (sequence, at, remote, action, link_number, link) SELECT"
    static let damages = [
        Damage("another detail", ["2"], "UPDATE admin_actions SET detail = 'x' WHERE link_number = 2"),
        Damage("another person", ["2"], "UPDATE admin_actions SET admin = 'bob' WHERE link_number = 2"),
        Damage("nobody", ["2"], "UPDATE admin_actions SET admin = NULL WHERE link_number = 2"),
        Damage("another moment", ["4"], "UPDATE admin_actions SET at = at + 1 WHERE link_number = 4"),
        Damage(
            "a text that went into the next column",
            ["2"],
            "UPDATE admin_actions SET subject = NULL, detail = subject WHERE link_number = 2"
        ),
        Damage("another place", ["2"], "UPDATE admin_actions SET sequence = -7 WHERE link_number = 2"),
        Damage("one less in the middle", ["3"], "DELETE FROM admin_actions WHERE link_number = 2"),
        Damage("one less at the beginning", ["2"], "DELETE FROM admin_actions WHERE link_number = 1"),
        Damage(
            "one more at the end, tied to nothing",
            [],
            "\(row) max(sequence) + 1, 5, '192.0.2.1', 'signed_in', NULL, NULL FROM admin_actions"
        ),
        Damage(
            "one more at the end, with a link",
            ["5"],
            """
            \(row) max(sequence) + 1, 5, '192.0.2.1', 'signed_in', 5, (SELECT link FROM admin_actions WHERE link_number = 4)
            FROM admin_actions
            """
        ),
        Damage(
            "one more before all others",
            ["1"],
            "\(row) min(sequence) - 9, 5, '192.0.2.1', 'signed_in', NULL, NULL FROM admin_actions"
        ),
        Damage(
            "another link",
            ["2", "3"],
            """
            UPDATE admin_actions SET link = (SELECT link FROM admin_actions WHERE link_number = 1) WHERE link_number = 2
            """
        ),
        Damage("no link", ["2", "3"], "UPDATE admin_actions SET link = NULL WHERE link_number = 2"),
        Damage(
            "out of the chain",
            ["3"],
            "UPDATE admin_actions SET link = NULL, link_number = NULL WHERE link_number = 2"
        ),
        Damage(
            "out of the chain at its end",
            [],
            "UPDATE admin_actions SET link = NULL, link_number = NULL WHERE link_number = 4"
        ),
        Damage(
            "made to look like what is forgotten",
            ["2"],
            "UPDATE admin_actions SET action = 'sign_in_refused' WHERE link_number = 2"
        ),
        Damage(
            "two that changed places",
            ["2", "3", "4"],
            "UPDATE admin_actions SET link_number = 100 WHERE link_number = 2",
            "UPDATE admin_actions SET link_number = 2 WHERE link_number = 3",
            "UPDATE admin_actions SET link_number = 3 WHERE link_number = 100"
        ),
    ]

    private static func note(in store: any Store) async throws {
        let words = ["signed_in", AdminAction.signInRefused, "key_made", "account_made", "signed_out"]
        for (place, word) in words.enumerated() {
            let action = AdminAction(
                at: Timestamp(milliseconds: Int64(place)),
                admin: AdminName("ann"),
                remote: "192.0.2.1",
                action: word,
                subject: "somebody"
            )
            try await store.write { write throws(StoreFailure) in try write.noteAdminAction(action) }
        }
    }

    private static func check(
        _ store: any Store,
        noted head: AuditLink? = nil,
        from start: AuditLink? = nil
    ) async throws -> LedgerFindings {
        let links = NotedLinks(head: head, start: start)
        return try await store.read { reader throws(StoreFailure) in try LedgerCheck.run(over: reader, noted: links) }
    }

    /// The numbers of the links that are broken.
    private static func numbers(_ found: LedgerFindings) -> Set<String> {
        #expect(found.listed.allSatisfy { $0.code == .auditChainBroken }, "\(found.listed)")
        return Set(found.listed.flatMap(\.names).filter { $0.key == "number" }.map(\.value))
    }

    private static func inFile(
        _ statements: [String],
        _ body: (SQLiteStore, AuditLink) async throws -> Void
    ) async throws {
        try await Tampering.withFolder { folder in
            let first = try SQLiteStore.open(folder: folder + "/data")
            try await note(in: first)
            let head = try await first.read { reader throws(StoreFailure) in try reader.auditHead() }
            await first.close()
            try Tampering.run(statements, in: folder + "/data")
            let second = try SQLiteStore.open(folder: folder + "/data")
            let result: Result<Void, any Error>
            do { result = .success(try await body(second, try #require(head))) } catch { result = .failure(error) }
            await second.close()
            try result.get()
        }
    }

    @Test func whatIsNotedIsSound() async throws {
        let store = MemoryStore()
        #expect(try await Self.check(store).auditHead == nil)
        try await Self.note(in: store)
        let found = try await Self.check(store)
        #expect(found.isSound && found.auditRows == 5 && found.auditHead?.number == 4)
        #expect(try await Self.check(store, noted: found.auditHead).isSound)
        // A head stays one of the links when the log goes on.
        try await Self.note(in: store)
        #expect(try await Self.check(store, noted: found.auditHead).isSound)
    }

    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"), arguments: damages)
    func whatAnotherHandDidInAFileShows(damage: Damage) async throws {
        try await Self.inFile(damage.statements) { store, _ in
            let found = try await Self.check(store)
            #expect(!found.isSound)
            #expect(Self.numbers(found) == damage.numbers)
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"), arguments: damages)
    func whatAnotherHandDidInADatabaseShows(damage: Damage) async throws {
        try await Tampering.withSchema { settings in
            let store = try await PostgreSQLStore.open(settings)
            let result: Result<LedgerFindings, any Error>
            do {
                try await Self.note(in: store)
                #expect(try await Self.check(store).isSound)
                try Tampering.run(damage.statements, schema: settings.schema)
                result = .success(try await Self.check(store))
            } catch { result = .failure(error) }
            await store.close()
            let found = try result.get()
            #expect(!found.isSound)
            #expect(Self.numbers(found) == damage.numbers)
        }
    }

    /// Nothing in the database tells of what stood at its end.
    @Test(
        .enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"),
        arguments: [
            "DELETE FROM admin_actions WHERE link_number = 4", "DELETE FROM admin_actions WHERE link_number >= 3",
            "DELETE FROM admin_actions",
        ]
    )
    func anEndThatWasCutOffShowsByTheHeadThatWasNoted(statement: String) async throws {
        try await Self.inFile([statement]) { store, head in
            #expect(try await Self.check(store).isSound)
            let found = try await Self.check(store, noted: head)
            #expect(Self.numbers(found) == ["4"] && !found.isSound)
        }
    }

    /// What was cut off and then written anew is whole in itself.
    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"))
    func anEndThatWasWrittenAnewShowsByTheHeadThatWasNoted() async throws {
        try await Self.inFile(["DELETE FROM admin_actions WHERE link_number >= 3"]) { store, head in
            try await Self.note(in: store)
            #expect(try await Self.check(store).isSound)
            #expect(Self.numbers(try await Self.check(store, noted: head)) == ["4"])
        }
    }

    /// What was broken up to a link from which a check goes on is told no more; what is broken behind it is.
    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"), arguments: damages)
    func whatWasLookedIntoIsToldNoMore(damage: Damage) async throws {
        try await Self.inFile(damage.statements) { store, _ in
            try await Self.note(in: store)
            let head = try #require(try await store.read { reader throws(StoreFailure) in try reader.auditHead() })
            #expect(!(try await Self.check(store).isSound))
            let found = try await Self.check(store, noted: head, from: head)
            #expect(found.isSound && found.auditHead == head, "\(found.listed)")
            #expect(found.auditRows == (try await Self.check(store).auditRows))
            // Who goes on from what is not there is told everything.
            let other = AuditLink(number: head.number, digest: AuditLink.start)
            #expect(Self.numbers(try await Self.check(store, from: other)).contains("\(head.number)"))
            try await Self.note(in: store)
            #expect(try await Self.check(store, from: head).isSound)
        }
    }

    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"))
    func whatIsBrokenBehindTheLinkIsTold() async throws {
        try await Self.inFile(["UPDATE admin_actions SET detail = 'x' WHERE link_number IN (2, 4)"]) { store, _ in
            let third = try await store.read { reader throws(StoreFailure) in
                try reader.walkAuditChain(after: .afterLink(2), limit: 1).rows.first
            }
            let link = AuditLink(number: 3, digest: try #require(third?.link))
            #expect(Self.numbers(try await Self.check(store)) == ["2", "4"])
            #expect(Self.numbers(try await Self.check(store, from: link)) == ["4"])
        }
    }

    /// Of an older version, and no less covered.
    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"))
    func whatIsOlderThanTheChainIsCovered() async throws {
        try await Tampering.withFolder { folder in
            let data = folder + "/data"
            await (try SQLiteStore.open(folder: data)).close()
            let older = "INSERT INTO admin_actions (sequence, at, admin, remote, action) VALUES"
            try Tampering.run(
                [
                    "\(older) (1, 5, 'ann', '192.0.2.1', 'signed_in')",
                    "\(older) (2, 6, 'ann', '192.0.2.1', 'signed_out')",
                ],
                in: data
            )
            let first = try SQLiteStore.open(folder: data)
            #expect(try await Self.check(first).isSound)
            try await Self.note(in: first)
            #expect(try await Self.check(first).isSound)
            await first.close()
            try Tampering.run(["UPDATE admin_actions SET admin = 'bob' WHERE sequence = 2"], in: data)
            let second = try SQLiteStore.open(folder: data)
            #expect(Self.numbers(try await Self.check(second)) == ["1"])
            await second.close()
        }
    }
}
