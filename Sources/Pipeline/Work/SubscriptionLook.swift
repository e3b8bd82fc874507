package import Jobs
package import PurchaseModel
package import Storage

/// The job that asks Apple how one subscription stands.
package struct SubscriptionLook: Job, Hashable {
    package static let kind = "subscription.look"

    package let chain: ChainKey

    package init(_ chain: ChainKey) { self.chain = chain }

    package init?(payload: [UInt8]) {
        let parts = payload.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, let (original, realm) = SidedNumber.read(parts[0]),
            let app = AppID(String(decoding: parts[1], as: UTF8.self))
        else { return nil }
        chain = ChainKey(app: app, realm: realm, original: original)
    }

    package var payload: [UInt8] { Array(name.utf8) }

    package var key: String? { name }

    /// An app's id has no space in it.
    private var name: String { "\(SidedNumber.text(chain.original, chain.realm)) \(chain.app)" }
}

extension LookQueue {
    /// How long a look waits for more of what Apple tells: a refund comes with word on the renewal. Whoever knows the shared
    /// secret, which many apps have in them, has Apple asked about a subscription once in so long, and no more.
    package static let delay = Duration.seconds(120)

    /// Into these jobs.
    package init(_ queue: JobQueue) {
        self.init { chain, write throws(StoreFailure) in
            try queue.follow(SubscriptionLook(chain), after: Self.delay, in: write)
        }
    }
}

/// Takes subscriptions in hand whose next look is due: a job for each, in the write that puts the look off.
///
/// Every server does; what one has taken, the others do not find any more.
package struct SubscriptionWatch: Sendable {
    /// How often: a look is late by no more while there are few.
    package static let pause = Duration.seconds(10)
    /// How many at a time, for all of Apple's limit: 50 answers a second about subscriptions, of which 45 are used, and
    /// some are left to what failed before. More would only stand in each other's way as jobs.
    package static let batchMax = 400
    /// When one is due again whose job never came to an end: jobs outlive processes, so that this is for what nobody
    /// thought of.
    private static let inHand = Duration.seconds(2 * 86_400)
    /// For how long those of apps that this server does not know are left to a server that does; after that they are nobody's,
    /// and stand in nobody's way for a day.
    private static let othersTurn = Duration.seconds(3_600)
    private static let nobodysPause = Duration.seconds(86_400)

    private let store: any Store
    private let apps: Set<AppID>
    private let queue: JobQueue
    private let clock: any WallClock
    private let batch: Int

    /// - Parameters:
    ///   - store: where subscriptions are.
    ///   - apps: whose are looked at. To others nothing happens here, not even that time passes.
    ///   - queue: where the jobs go.
    ///   - clock: says what is due.
    ///   - percent: what of Apple's limit this server may use.
    package init(store: any Store, apps: Set<AppID>, queue: JobQueue, clock: any WallClock, percent: Int = 100) {
        self.store = store
        self.apps = apps
        self.queue = queue
        self.clock = clock
        batch = max(1, Self.batchMax * percent / 100)
    }

    /// Looks now, and after each pause, until there is no other pause.
    package func run(_ pause: @Sendable () async -> Bool) async {
        repeat { _ = await sweep() } while await pause()
    }

    /// Takes a batch in hand of those that are due, the longest due first, once those before it are under way: when Apple
    /// is slow, what is due waits here, and not as jobs. A job that waits beyond that is brought forward. When the store
    /// fails, the next sweep begins again; when nothing is due, nothing is written.
    ///
    /// What nobody configures any more stays as it was: whoever had the app told that all its subscribers are gone, since nobody
    /// asked of them, would be told wrong.
    ///
    /// What is due goes by the store's clock: a server whose own is ahead would put all of them off for as long.
    ///
    /// - Returns: how many.
    @discardableResult
    package func sweep() async -> Int {
        let (now, queue, batch, apps) = (clock.now, queue, batch, apps)
        let isDue = try? await store.read { reader throws(StoreFailure) in
            if try reader.hasDueJobs(kinds: [SubscriptionLook.kind], at: now) { return false }
            return try !reader.dueSubscriptions(at: try reader.storeTime(now), limit: 1).isEmpty
        }
        guard isDue == true else { return 0 }
        let taken = try? await store.write { transaction throws(StoreFailure) in
            let now = try transaction.storeTime(now)
            let (due, nobodys) = try Self.due(at: now, batch, of: apps, in: transaction)
            for subscription in due { try queue.hasten(SubscriptionLook(subscription.chain), in: transaction) }
            try transaction.apply(puttingOff(due, until: now.advanced(by: Self.inHand)), evidence: nil)
            if !nobodys.isEmpty {
                let next = now.advanced(by: Self.nobodysPause)
                try transaction.apply(puttingOff(nobodys, until: next), evidence: nil)
            }
            return due.count
        }
        return taken ?? 0
    }

    /// A batch of those that are due, and those of nobody whose hour is over. Where others' stand in between, each app is asked
    /// about by itself: there may be any number of them.
    private static func due(
        at now: Timestamp,
        _ batch: Int,
        of apps: Set<AppID>,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> (ours: [RecordedSubscription], nobodys: [RecordedSubscription]) {
        let due = try transaction.dueSubscriptions(at: now, limit: batch)
        let others = due.filter { !apps.contains($0.chain.app) }
        if others.isEmpty { return (due, []) }
        var ours: [RecordedSubscription] = []
        for app in apps { ours += try transaction.dueSubscriptions(of: app, at: now, limit: batch) }
        ours.sort { ($0.nextLook ?? now, $0.chain.original) < ($1.nextLook ?? now, $1.chain.original) }
        let nobodys = others.filter { look in look.nextLook.map { $0.advanced(by: othersTurn) < now } ?? false }
        return (Array(ours.prefix(batch)), nobodys)
    }
}
