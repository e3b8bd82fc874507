import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// Who uses the dashboard, from where, and what they did.
@Suite struct AdminTests {
    private static let ann = AdminName(checked: "ann")
    private static let bob = AdminName(checked: "bob")

    private static func moment(_ number: Int64) -> Timestamp { Timestamp(milliseconds: number) }

    private static func account(_ name: AdminName, _ role: AdminRole = .viewer) -> AdminAccount {
        AdminAccount(name: name, role: role, password: "$argon2id$of-\(name)", createdAt: moment(5))
    }

    private static func session(_ number: UInt8, of admin: AdminName, at start: Int64) -> AdminSession {
        AdminSession(
            digest: [UInt8](repeating: number, count: 32),
            admin: admin,
            startedAt: moment(start),
            seenAt: moment(start)
        )
    }

    private static func action(
        _ number: Int64,
        by admin: AdminName?,
        to subject: String? = nil,
        _ detail: String? = nil
    ) -> AdminAction {
        AdminAction(
            at: moment(number),
            admin: admin,
            remote: "192.0.2.1",
            action: "signed_in",
            subject: subject,
            detail: detail
        )
    }

    @Test(arguments: StoreKind.allCases)
    func anAccountIsMadeOnceAndChangedFromWhatItWas(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let ann = Self.account(Self.ann, .admin)
            let bob = Self.account(Self.bob)
            try await store.write { write throws(StoreFailure) in
                try write.createAdmin(bob)
                try write.createAdmin(ann)
            }
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { write throws(StoreFailure) in try write.createAdmin(Self.account(Self.ann)) }
            }
            var changed = bob
            changed.role = .operator
            changed.password = "$another"
            changed.isEnabled = false
            let update = changed
            try await store.write { write throws(StoreFailure) in try write.updateAdmin(update) }
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { write throws(StoreFailure) in try write.updateAdmin(update) }
            }
            changed.version = 2
            let listed = try await store.read { reader throws(StoreFailure) in try reader.admins() }
            #expect(listed == [ann, changed])
            let found = try await store.read { reader throws(StoreFailure) in
                [try reader.admin(Self.ann), try reader.admin(AdminName(checked: "nobody"))]
            }
            #expect(found == [ann, nil])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anAccountIsHeldAsItIs(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let ann = Self.account(Self.ann, .admin)
            let held = try await store.write { write throws(StoreFailure) in
                try write.createAdmin(ann)
                return [try write.holdAdmin(Self.ann), try write.holdAdmin(Self.bob)]
            }
            #expect(held == [ann, nil])
            // It can be changed from what it was.
            try await store.write { write throws(StoreFailure) in try write.updateAdmin(ann) }
        }
    }

    /// Of a sign-in and a change of the password at the same moment the second sees what the first has done.
    @Test(
        .enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"),
        .enabled(if: !PostgreSQLServer.isPortable, "whoever waited is turned back")
    )
    func whoHoldsAnAccountChangesItAfterNobody() async throws {
        try await PostgreSQLJobTests.withTwo { first, second, name in
            let ann = Self.account(Self.ann, .admin)
            try await first.write { write throws(StoreFailure) in try write.createAdmin(ann) }
            let isBegun = DispatchSemaphore(value: 0)
            async let held = PostgreSQLJobTests.after(isBegun) {
                try await second.write { write throws(StoreFailure) in try write.holdAdmin(Self.ann) }
            }
            try await first.write { write throws(StoreFailure) in
                try write.updateAdmin(ann)
                isBegun.signal()
                PostgreSQLJobTests.untilOneWaits(name)
            }
            #expect(try await held?.version == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aSessionEndsOnceAndIsNotUsedAfterwards(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let session = Self.session(1, of: Self.ann, at: 10)
            let answers = try await store.write { write throws(StoreFailure) in
                try write.startAdminSession(session)
                return [
                    try write.noteAdminSession(session.digest, seenAt: Self.moment(20)),
                    try write.endAdminSession(session.digest, at: Self.moment(30)),
                    try write.endAdminSession(session.digest, at: Self.moment(40)),
                    try write.noteAdminSession(session.digest, seenAt: Self.moment(50)),
                    try write.noteAdminSession([UInt8](repeating: 9, count: 32), seenAt: Self.moment(50)),
                ]
            }
            #expect(answers == [true, true, false, false, false])
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { write throws(StoreFailure) in try write.startAdminSession(session) }
            }
            let kept = try await store.read { reader throws(StoreFailure) in try reader.adminSession(session.digest) }
            #expect(kept?.seenAt == Self.moment(20))
            #expect(kept?.endedAt == Self.moment(30))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func allSessionsOfOneEndAndTheOldestAreForgotten(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let sessions = [(1, Self.ann), (2, Self.ann), (3, Self.ann), (4, Self.bob)].map { number, admin in
                Self.session(UInt8(number), of: admin, at: Int64(number))
            }
            let ended = try await store.write { write throws(StoreFailure) in
                for session in sessions { try write.startAdminSession(session) }
                return try write.endAdminSessions(of: Self.ann, but: sessions[1].digest, at: Self.moment(9))
            }
            #expect(ended == 2)
            let going = try await store.read { reader throws(StoreFailure) in
                try sessions.map { row throws(StoreFailure) in try reader.adminSession(row.digest)?.endedAt == nil }
            }
            #expect(going == [false, true, false, true])
            let swept = try await store.write { write throws(StoreFailure) in
                [
                    try write.sweepAdminSessions(startedBefore: Self.moment(4), limit: 2),
                    try write.sweepAdminSessions(startedBefore: Self.moment(4), limit: 2),
                ]
            }
            #expect(swept == [2, 1])
            let left = try await store.read { reader throws(StoreFailure) in
                try sessions.map { row throws(StoreFailure) in try reader.adminSession(row.digest) != nil }
            }
            #expect(left == [false, false, false, true])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatWasDoneIsListedFromTheNewest(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let byKey = AdminAction(
                at: Self.moment(6),
                admin: nil,
                key: "shop/key_1",
                remote: "192.0.2.2",
                action: "key_made",
                subject: "key_2",
                detail: "…"
            )
            let actions = [
                Self.action(1, by: Self.ann), Self.action(2, by: Self.ann), Self.action(3, by: nil),
                Self.action(4, by: Self.ann, to: "who\u{301}<"), Self.action(5, by: Self.ann, "why"),
                byKey,
            ]
            for action in actions {
                try await store.write { write throws(StoreFailure) in try write.noteAdminAction(action) }
            }
            let first = try await store.read { reader throws(StoreFailure) in
                try reader.adminActions(before: nil, limit: 3)
            }
            let second = try await store.read { reader throws(StoreFailure) in
                try reader.adminActions(before: first.next, limit: 3)
            }
            #expect(first.actions + second.actions == actions.reversed())
            #expect(first.next != nil && first.actions.first == byKey)
            #expect(second.next == nil)
        }
    }

    /// Each by a server of its own, under a name of its own.
    @Test(arguments: StoreKind.allCases)
    func ofManyFirstAccountsOneIsMade(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let link = [UInt8](repeating: 7, count: 32)
            try await store.write { write throws(StoreFailure) in
                try write.keepFirstAccountLink(link, madeAt: Self.moment(1), forgettingBefore: Self.moment(0))
            }
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<8 {
                    let account = Self.account(AdminName(checked: "first\(number)"), .admin)
                    group.addTask {
                        try await store.write { write throws(StoreFailure) in try write.createFirstAdmin(account) }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(made.count(where: \.self) == 1)
            let (accounts, kept) = try await store.read { reader throws(StoreFailure) in
                (try reader.admins(), try reader.firstAccountLink(link))
            }
            #expect(accounts.count == 1 && accounts.first?.role == .admin)
            #expect(kept == nil)
            // Whoever comes after it is one of several.
            try await store.write { write throws(StoreFailure) in try write.createAdmin(Self.account(Self.bob)) }
        }
    }

    /// The second one finds no account, and the place of the first one taken.
    @Test(
        .enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"),
        .enabled(if: !PostgreSQLServer.isPortable, "whoever waited is turned back")
    )
    func whoeverIsFirstAtTheSameMomentComesSecond() async throws {
        try await PostgreSQLJobTests.withTwo { first, second, name in
            let (ann, bob) = (Self.account(Self.ann, .admin), Self.account(Self.bob, .admin))
            let isBegun = DispatchSemaphore(value: 0)
            async let isSecondMade = PostgreSQLJobTests.after(isBegun) {
                try await second.write { write throws(StoreFailure) in try write.createFirstAdmin(bob) }
            }
            let isFirstMade = try await first.write { write throws(StoreFailure) in
                let isMade = try write.createFirstAdmin(ann)
                isBegun.signal()
                PostgreSQLJobTests.untilOneWaits(name)
                return isMade
            }
            let isOtherMade = try await isSecondMade
            #expect(isFirstMade && !isOtherMade)
            let accounts = try await second.read { reader throws(StoreFailure) in try reader.admins() }
            #expect(accounts.map(\.name) == [Self.ann])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func linksToTheFirstAccountAreForgottenWithTime(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let links = (UInt8(1)...3).map { [UInt8](repeating: $0, count: 32) }
            for (place, link) in links.enumerated() {
                try await store.write { write throws(StoreFailure) in
                    let (made, oldest) = (Self.moment(Int64(place + 1)), Self.moment(Int64(place)))
                    try write.keepFirstAccountLink(link, madeAt: made, forgettingBefore: oldest)
                }
            }
            let found = try await store.read { reader throws(StoreFailure) in
                try links.map { link throws(StoreFailure) in try reader.firstAccountLink(link) }
            }
            #expect(found == [nil, Self.moment(2), Self.moment(3)])
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { write throws(StoreFailure) in
                    try write.keepFirstAccountLink(links[2], madeAt: Self.moment(4), forgettingBefore: Self.moment(0))
                }
            }
            await #expect(throws: StoreFailure.unstorable) {
                try await store.write { write throws(StoreFailure) in
                    try write.keepFirstAccountLink([1], madeAt: Self.moment(4), forgettingBefore: Self.moment(0))
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatNoStoreCanHoldIsRefused(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let action = AdminAction(at: Self.moment(1), admin: nil, remote: "x", action: "a", subject: "\0")
            await #expect(throws: StoreFailure.unstorable) {
                try await store.write { write throws(StoreFailure) in try write.noteAdminAction(action) }
            }
            await #expect(throws: StoreFailure.unstorable) {
                try await store.write { write throws(StoreFailure) in
                    let account = AdminAccount(name: Self.ann, role: .admin, password: "\n", createdAt: Self.moment(1))
                    try write.createAdmin(account)
                }
            }
        }
    }
}
