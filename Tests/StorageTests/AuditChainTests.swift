import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// Each row of the audit log is tied to all rows before it.
@Suite struct AuditChainTests {
    private static func action(_ at: Int64, _ word: String = "signed_in", _ detail: String? = nil) -> AdminAction {
        AdminAction(
            at: Timestamp(milliseconds: at),
            admin: AdminName(checked: "ann"),
            remote: "192.0.2.1",
            action: word,
            detail: detail
        )
    }

    private static let refused = AdminAction.signInRefused

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func note(_ actions: [AdminAction], in store: any Store) async throws {
        try await store.write { write throws(StoreFailure) in
            for action in actions { try write.noteAdminAction(action) }
        }
    }

    /// All that is in the chain, in its order, by pages of two.
    private static func chain(_ store: any Store) async throws -> [AuditRow] {
        try await store.read { reader throws(StoreFailure) in
            var (rows, place): ([AuditRow], WalkPlace?) = ([], nil)
            repeat {
                let page = try reader.walkAuditChain(after: place, limit: 2)
                rows += page.rows
                place = page.next
            } while place != nil
            return rows
        }
    }

    /// That each link follows from its row and from the link before.
    private static func expectWhole(
        _ store: any Store,
        count: Int,
        from start: [UInt8] = AuditLink.start
    ) async throws {
        let rows = try await chain(store)
        let numbers: [Int64?] = (0..<Int64(count)).map { $0 + 1 }
        #expect(rows.map(\.number) == numbers)
        var link = start
        for row in rows {
            link = AuditLink.digest(after: link, number: row.number ?? 0, row.place, row.action)
            #expect(row.link == link)
        }
        let head = try await store.read { reader throws(StoreFailure) in try reader.auditHead() }
        let last: AuditLink? = count == 0 ? nil : AuditLink(number: Int64(count), digest: link)
        #expect(head == last)
    }

    /// Worked out by a script that shares nothing with the code: Python's hashlib over the form that the decision describes.
    @Test func aLinkIsMadeOfTheseBytes() {
        let first = AuditLink.digest(after: AuditLink.start, number: 1, 1, Self.action(5, "signed_in", "who\u{301}<"))
        #expect(Self.hex(first) == "b03dcfa895a97cf657e61186b3cd6f4ca4ec25ff5a73f97431bfccfb85c2379d")
        let second = AdminAction(
            at: Timestamp(milliseconds: -6),
            admin: nil,
            key: "shop/key_1",
            remote: "192.0.2.2",
            action: "key_made",
            subject: "key_2",
            detail: ""
        )
        #expect(
            Self.hex(AuditLink.digest(after: first, number: 2, 3, second))
                == "b67f0384f47a941b5a8e70a418be3d6e04cf3ad470ab49f6796e6beb4ecaea1c"
        )
        let older = AdminAction(
            at: Timestamp(milliseconds: 7),
            admin: nil,
            remote: "192.0.2.3",
            action: "signed_out",
            subject: "",
            detail: "x"
        )
        #expect(
            Self.hex(AuditLink.digest(after: AuditLink.start, number: 0, 4, older))
                == "f1caad39d08cd59bc7f5f270393c0e23eaa5f6d6fbf7abd2e6941f0dff65520a"
        )
    }

    @Test(arguments: StoreKind.allCases)
    func eachRowIsTiedToThoseBefore(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await Self.expectWhole(store, count: 0)
            try await Self.note([Self.action(1)], in: store)
            // Several in one write, and in between what stands outside.
            let rows = [
                Self.action(2, Self.refused), Self.action(3), Self.action(4, Self.refused), Self.action(5, "made", "…"),
            ]
            try await Self.note(rows, in: store)
            try await Self.expectWhole(store, count: 3)
            let listed = try await store.read { reader throws(StoreFailure) in
                try reader.adminActions(before: nil, limit: 9).rows
            }
            #expect(listed.map(\.number) == [3, nil, 2, nil, 1])
            #expect(listed.map { $0.link == nil } == [false, true, false, true, false])
            let all = try await store.read { reader throws(StoreFailure) in
                try reader.walkAuditLog(after: nil, limit: 9).rows
            }
            #expect(all == listed.reversed())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatFailedLeavesNoLink(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await Self.note([Self.action(1)], in: store)
            await #expect(throws: StoreFailure.unstorable) {
                try await store.write { write throws(StoreFailure) in
                    try write.noteAdminAction(Self.action(2))
                    throw .unstorable
                }
            }
            try await Self.note([Self.action(3)], in: store)
            try await Self.expectWhole(store, count: 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func refusedSignInsAreForgottenAndNothingIsTorn(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let words = [Self.refused, "signed_in", Self.refused, Self.refused, "signed_out", Self.refused]
            try await Self.note(words.enumerated().map { Self.action(Int64($0.offset), $0.element) }, in: store)
            try await store.write { write throws(StoreFailure) in
                _ = try write.sweepRefusedSignIns(
                    olderThan: .milliseconds(1),
                    at: Timestamp(milliseconds: 1_000),
                    after: 0,
                    limit: 100
                )
            }
            try await Self.note([Self.action(2_000)], in: store)
            try await Self.expectWhole(store, count: 3)
            let left = try await store.read { reader throws(StoreFailure) in
                try reader.adminActions(before: nil, limit: 9).actions.map(\.action)
            }
            #expect(left == ["signed_in", Self.refused, "signed_out", "signed_in"])
        }
    }

    // MARK: What is older than the chain

    /// More than one page of them, as versions before the chain wrote them.
    private static let older = """
        WITH RECURSIVE counted (place) AS (SELECT 1 UNION ALL SELECT place + 1 FROM counted WHERE place < 1200)
        INSERT INTO admin_actions (sequence, at, admin, remote, action)
        SELECT place, place, 'ann', '192.0.2.1', CASE WHEN place % 3 = 0 THEN 'sign_in_refused' ELSE 'signed_in' END
        FROM counted
        """

    private static func expectOlderCovered(_ store: any Store) async throws {
        try await note([action(5_000)], in: store)
        try await note([action(5_001)], in: store)
        let fold = (Int64(1)...1_200).filter { $0 % 3 != 0 }.reduce(AuditLink.start) { link, place in
            AuditLink.digest(after: link, number: 0, place, action(place))
        }
        try await expectWhole(store, count: 2, from: fold)
    }

    @Test(.enabled(if: Python.isThere, "python3 is missing: nothing writes as an older version did"))
    func theFirstLinkCoversWhatAFileHadBefore() async throws {
        try await TemporaryFolder.with { folder in
            await (try SQLiteStore.open(folder: folder + "/data")).close()
            try Python.run([Self.older], in: folder + "/data")
            let store = try SQLiteStore.open(folder: folder + "/data")
            try await Self.expectOlderCovered(store)
            await store.close()
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func theFirstLinkCoversWhatADatabaseHadBefore() async throws {
        try await PostgreSQLServer.withSchema { schema in
            let settings = try PostgreSQLServer.settings(schema: schema)
            await (try await PostgreSQLStore.open(settings)).close()
            try TestDatabase.query("SET search_path TO \(schema); \(Self.older)")
            let store = try await PostgreSQLStore.open(settings)
            let result: Result<Void, any Error>
            do { result = .success(try await Self.expectOlderCovered(store)) } catch { result = .failure(error) }
            await store.close()
            try result.get()
        }
    }

    // MARK: Several who write

    @Test(arguments: StoreKind.allCases)
    func whoeverWritesAtTheSameMomentGoesOnFromEachOther(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in Int64(0)..<12 {
                    group.addTask {
                        let rows = [
                            Self.action(number, Self.refused), Self.action(number), Self.action(number, "made"),
                        ]
                        try await Self.note(rows, in: store)
                    }
                }
                try await group.waitForAll()
            }
            try await Self.expectWhole(store, count: 24)
        }
    }

    /// The second one began first: its row's place is before that of the row that it follows.
    @Test(
        .enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"),
        .enabled(if: !PostgreSQLServer.isPortable, "whoever waited is turned back")
    )
    func theChainHasTheOrderOfTheCommits() async throws {
        try await PostgreSQLJobTests.withTwo { first, second, _ in
            let (isBegun, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let faster: Void = PostgreSQLJobTests.after(isBegun) {
                try await Self.note([Self.action(1, "faster")], in: second)
                isDone.signal()
            }
            try await first.write { write throws(StoreFailure) in
                isBegun.signal()
                _ = isDone.wait(timeout: .now() + 60)
                // Should it be written again, it waits for nobody.
                isDone.signal()
                try write.noteAdminAction(Self.action(2, "slower"))
            }
            try await faster
            try await Self.expectWhole(first, count: 2)
            let rows = try await Self.chain(second)
            #expect(rows.map(\.action.action) == ["faster", "slower"])
            #expect(rows.map(\.place) == rows.map(\.place).sorted().reversed())
        }
    }

    /// Both go on from the same link; the second one finds it taken, and is made again.
    @Test(
        .enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"),
        .enabled(if: !PostgreSQLServer.isPortable, "whoever waited is turned back")
    )
    func ofTwoWhoGoOnFromTheSameLinkOneIsMadeAgain() async throws {
        try await PostgreSQLJobTests.withTwo { first, second, name in
            let isBegun = DispatchSemaphore(value: 0)
            async let slower: Void = PostgreSQLJobTests.after(isBegun) {
                try await Self.note([Self.action(2, "slower")], in: second)
            }
            try await first.write { write throws(StoreFailure) in
                try write.noteAdminAction(Self.action(1, "faster"))
                // A question has what waits be sent.
                _ = try write.auditHead()
                isBegun.signal()
                PostgreSQLJobTests.untilOneWaits(name)
            }
            try await slower
            try await Self.expectWhole(first, count: 2)
            #expect(try await Self.chain(second).map(\.action.action) == ["faster", "slower"])
        }
    }
}
