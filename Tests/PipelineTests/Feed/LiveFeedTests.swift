import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// Followers of a feed: each hears of everything once, and none costs a reading of its own.
@Suite struct LiveFeedTests {
    private static let forever = Duration.seconds(1_000_000)

    private static func app() throws -> AppID { try #require(AppID("demo")) }

    /// The positions that a follower is given until there are as many.
    private static func positions(_ follower: FeedFollower, _ count: Int) async throws -> [Int64] {
        var positions: [Int64] = []
        while positions.count < count {
            positions += try await follower.next(until: forever).map(\.cursor.position)
        }
        return positions
    }

    @Test func whatWasAndWhatComesIsTold() async throws {
        let desk = FeedDesk()
        try await desk.append(1...3)
        try await desk.open { feed in
            let follower = feed.follow(try Self.app(), after: EventCursor(position: 1), where: .everything)
            #expect(try await Self.positions(follower, 2) == [2, 3])
            async let next = Self.positions(follower, 4)
            try await desk.append(4...7)
            feed.wake()
            #expect(try await next == [4, 5, 6, 7])
        }
    }

    /// Nobody rings for what others commit to the same database.
    @Test func aTickShowsWhatOthersWrote() async throws {
        let desk = FeedDesk()
        try await desk.open { feed in
            let follower = feed.follow(try Self.app(), after: .start, where: .everything)
            async let next = follower.next(until: Self.forever)
            try await desk.append(1...1)
            desk.advance()
            let messages = try await next
            #expect(messages.map(\.cursor.position) == [1])
            let event = try FeedDesk.event(1)
            #expect(messages.map(\.event) == [event])
            #expect(messages.map(\.bytes) == [WebhookBody.bytes(of: event)])
        }
    }

    @Test func aHundredFollowersReadLikeOne() async throws {
        let desk = FeedDesk()
        try await desk.open { feed in
            let app = try Self.app()
            let followers = (0..<100).map { _ in feed.follow(app, after: .start, where: .everything) }
            try await withThrowingTaskGroup(of: [Int64].self) { group in
                for follower in followers { group.addTask { try await Self.positions(follower, 50) } }
                for number in Int64(1)...50 {
                    try await desk.append(number...number)
                    feed.wake()
                }
                for try await positions in group { #expect(positions == Array(1...50)) }
            }
            // Each may have begun before there was anything to share, and each ring is one reading at most.
            #expect(desk.store.reads <= 2 * 100 + 50 + 2)
            let before = desk.store.reads
            for number in Int64(51)...60 {
                try await desk.append(number...number)
                feed.wake()
                for follower in followers { #expect(try await Self.positions(follower, 1) == [number]) }
            }
            #expect(desk.store.reads <= before + 12)
        }
    }

    @Test func onlyWhatIsWantedIsTold() async throws {
        let desk = FeedDesk()
        try await desk.open { feed in
            let app = try Self.app()
            let filter = EventFilter(types: ["order.paid"], realms: [FeedDesk.sandbox])
            let follower = feed.follow(app, after: .start, where: filter)
            try await desk.append(1...2)
            try await desk.append(1...1, realm: FeedDesk.sandbox, type: "order.placed")
            try await desk.append(2...2, realm: FeedDesk.sandbox)
            try await desk.append([try FeedDesk.event(1, app: "other", realm: FeedDesk.sandbox)])
            #expect(try await Self.positions(follower, 1) == [4])
            async let next = Self.positions(follower, 1)
            try await desk.append(3...3)
            feed.wake()
            try await desk.append(3...3, realm: FeedDesk.sandbox)
            feed.wake()
            #expect(try await next == [6])
        }
    }

    /// Not only when the end of the feed is reached: whoever follows is to be told in time that it is still read.
    @Test func patienceHasAnEndInALongFeedOfUnwantedEvents() async throws {
        let desk = FeedDesk()
        try await desk.append(1...(2 * EventPage.lookedAtMax + 1))
        let feed = LiveFeed(store: desk.store, uptime: { .zero }, report: { _ in })
        let rare = EventFilter(types: ["order.cancelled"], realms: [FeedDesk.production])
        let follower = feed.follow(try Self.app(), after: .start, where: rare)
        for readings in 1...3 {
            #expect(try await follower.next(until: .zero).isEmpty)
            #expect(desk.store.reads == readings)
        }
    }

    @Test func patienceHasAnEnd() async throws {
        let desk = FeedDesk()
        try await desk.open { feed in
            let follower = feed.follow(try Self.app(), after: .start, where: .everything)
            async let none = follower.next(until: .seconds(15))
            desk.advance(by: .seconds(14))
            desk.advance(by: .seconds(1))
            #expect(try await none == [])
            try await desk.append(1...1)
            desk.advance()
            #expect(try await Self.positions(follower, 1) == [1])
        }
    }

    @Test func whoIsCancelledWaitsNoLonger() async throws {
        let desk = FeedDesk()
        try await desk.open { feed in
            let app = try Self.app()
            for _ in 0..<200 {
                try await withThrowingTaskGroup(of: [FeedMessage].self) { group in
                    group.addTask {
                        try await feed.follow(app, after: .start, where: .everything).next(until: Self.forever)
                    }
                    await Task.yield()
                    group.cancelAll()
                    for try await messages in group { #expect(messages == []) }
                }
            }
        }
    }

    /// A cursor of another feed, from before a ledger was restored, perhaps.
    @Test func whoIsAheadOfTheFeedDisturbsNobody() async throws {
        let desk = FeedDesk()
        try await desk.append(1...2)
        try await desk.open { feed in
            let app = try Self.app()
            let ahead = feed.follow(app, after: EventCursor(position: 5), where: .everything)
            async let late = Self.positions(ahead, 1)
            desk.advance()
            let follower = feed.follow(app, after: EventCursor(position: 2), where: .everything)
            async let next = Self.positions(follower, 4)
            try await desk.append(3...6)
            feed.wake()
            #expect(try await next == [3, 4, 5, 6])
            #expect(try await late == [6])
        }
    }

    /// More than is kept for those who follow, and more than is handed out at once.
    @Test func whoFallsBehindMissesNothing() async throws {
        let desk = FeedDesk()
        try await desk.open { feed in
            let app = try Self.app()
            let slow = feed.follow(app, after: .start, where: .everything)
            let quick = feed.follow(app, after: .start, where: .everything)
            async let first = Self.positions(quick, 1)
            try await desk.append(1...1)
            feed.wake()
            #expect(try await first == [1])
            for start in stride(from: Int64(2), to: 2_002, by: 200) {
                try await desk.append(start...start + 199)
                feed.wake()
            }
            #expect(try await Self.positions(quick, 2_000) == Array(2...2_001))
            #expect(try await Self.positions(slow, 2_001) == Array(1...2_001))
        }
    }

    @Test func aFailureOfTheStoreIsToldAndNothingIsMissed() async throws {
        let desk = FeedDesk()
        try await desk.append(1...2)
        try await desk.open { feed in
            let follower = feed.follow(try Self.app(), after: .start, where: .everything)
            desk.store.fail(with: .busy)
            await #expect(throws: StoreFailure.busy) { try await follower.next(until: Self.forever) }
            desk.store.fail(with: nil)
            #expect(try await Self.positions(follower, 2) == [1, 2])
        }
    }

    @Test func theReaderTriesAgain() async throws {
        let desk = FeedDesk()
        try await desk.open { feed in
            let follower = feed.follow(try Self.app(), after: .start, where: .everything)
            desk.store.fail(with: .busy)
            feed.wake()
            while desk.failures.values.isEmpty { await Task.yield() }
            desk.store.fail(with: nil)
            async let next = Self.positions(follower, 1)
            try await desk.append(1...1)
            desk.advance()
            #expect(try await next == [1])
        }
    }

    /// Writers, followers with filters of their own, some of whom leave and come again where they were.
    @Test(arguments: UInt64(0)..<20) func everybodyHearsHisOwnOnceInOrder(seed: UInt64) async throws {
        let desk = FeedDesk()
        let total = 300
        var random = SeededRandom(seed: seed)
        var rows: [EventRow] = []
        var counts: [Realm: Int64] = [:]
        for _ in 0..<total {
            let realm = Bool.random(using: &random) ? FeedDesk.production : FeedDesk.sandbox
            counts[realm, default: 0] += 1
            let type = Bool.random(using: &random) ? "order.paid" : "order.placed"
            rows.append(try FeedDesk.event(counts[realm] ?? 0, realm: realm, type: type))
        }
        let filters = [
            EventFilter.everything, EventFilter(types: ["order.paid"], realms: EventFilter.everything.realms),
            EventFilter(realms: [FeedDesk.sandbox]),
            EventFilter(types: ["order.placed"], realms: [FeedDesk.production]),
        ]
        let app = try Self.app()
        let pieces = stride(from: 0, to: total, by: 7).map { Array(rows[$0..<min($0 + 7, total)]) }
        let wanted = filters.map { filter in
            rows.indices.filter { filter.includes(rows[$0]) }.map { Int64($0 + 1) }
        }
        try await desk.open { feed in
            try await withThrowingTaskGroup(of: (Int, [Int64]).self) { group in
                for (number, filter) in filters.enumerated() {
                    for stay in 1...3 {
                        group.addTask { [wanted] in
                            var heard: [Int64] = []
                            while heard.count < wanted[number].count {
                                let place = EventCursor(position: heard.last ?? 0)
                                let follower = feed.follow(app, after: place, where: filter)
                                for _ in 0..<stay where heard.count < wanted[number].count {
                                    heard += try await follower.next(until: Self.forever).map(\.cursor.position)
                                }
                            }
                            return (number, heard)
                        }
                    }
                }
                for piece in pieces {
                    try await desk.append(piece)
                    if Bool.random(using: &random) { feed.wake() } else { desk.advance() }
                    if Bool.random(using: &random) { await Task.yield() }
                }
                for try await (number, heard) in group { #expect(heard == wanted[number]) }
            }
        }
    }
}
