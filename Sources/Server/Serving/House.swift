import API
import AppStore
import Crypto
import Encoding
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Storage
import Verification

/// The parts that a running server is made of.
struct House {
    /// Webhooks under way at once.
    private static let connectionsMax = 256

    let recorder: Recorder
    let pending: PendingReview
    let expiry: PendingExpiry
    let housekeeping: Housekeeping
    let sender: WebhookSender
    let work: BackgroundWork
    let feed: LiveFeed
    let certificates: CertificateWatch
    let keys: KeyKeeper
    let watches: (room: RoomWatch, backlog: BacklogWatch)
    let parts: APIParts
    let verifier: Verifier
    let contacts = AppleContacts()
    /// Since it was made, by a clock that nobody sets.
    let uptime: @Sendable () -> Duration

    init(
        _ settings: ServeSettings,
        _ anchors: TrustAnchors,
        _ store: any Store,
        _ clock: SystemClock,
        _ reporter: Reporter
    ) throws(AppleSide.Fault) {
        let (sender, refusals) = (House.sender(settings, store, clock, reporter), RefusalLedger())
        let (ticking, start) = (ContinuousClock(), ContinuousClock.now)
        let uptime: @Sendable () -> Duration = { start.duration(to: ticking.now) }
        let feed = LiveFeed(store: store, uptime: uptime) { reporter.reportUnreadFeed($0) }
        watches = House.watches(settings, store, clock, reporter)
        (self.sender, self.feed, self.uptime) = (sender, feed, uptime)
        let queue = BackgroundWork.queue(store, clock)
        let firsts = House.firsts(settings, queue)
        recorder = Recorder(store: store, refusals: refusals, clock: clock, uptime: uptime, firsts: firsts) { event in
            reporter.report(event)
            guard case .committed = event else { return }
            sender.wake()
            feed.wake()
        }
        keys = KeyKeeper(ring: settings.keys, store: store, clock: clock, uptime: uptime)
        let register = CertificateRegister(clock: clock)
        certificates = CertificateWatch(
            register: register,
            provided: anchors.sightings,
            store: store,
            clock: clock,
            reporter: reporter
        )
        let verifier = Verifier(anchors: anchors) { register.note($0) }
        self.verifier = verifier
        let accounts = try House.accounts(settings, verifier, clock, contacts, reporter)
        let pipeline = PurchasePipeline(
            verifier: verifier,
            recorder: recorder,
            store: store,
            refusals: refusals,
            clock: clock,
            limits: settings.pipeline,
            later: PendingPlanner(queue, asking: Set(accounts.keys))
        ) { reporter.report($0) }
        let queues = (consumption: ConsumptionQueue(queue), support: SupportQueue(queue))
        let intake = House.intake(settings, verifier, recorder, store, refusals, clock, queue, reporter)
        pending = PendingReview(pipeline: pipeline, store: store, apps: settings.apps, clock: clock)
        expiry = PendingExpiry(
            pipeline: pipeline,
            store: store,
            apps: settings.apps,
            clock: clock,
            patience: settings.pipeline.pendingFor
        ) { reporter.report($0) }
        housekeeping = Housekeeping(store: store, clock: clock) { reporter.report($0) }
        let (part, apps) = (settings.applePercent, Set(settings.apps.map(\.id)))
        work = BackgroundWork(queue, store, apps, accounts, pipeline, recorder, verifier, intake, part, clock, reporter)
        let signing = accounts.compactMapValues { MerchantDesk($0.credentials) }
        parts = House.parts(settings, pipeline, intake, queues, signing, store, clock, sender, feed, reporter)
    }

    private static func accounts(
        _ settings: ServeSettings,
        _ verifier: Verifier,
        _ clock: SystemClock,
        _ contacts: AppleContacts,
        _ reporter: Reporter
    ) throws(AppleSide.Fault) -> [AppID: AppleAccount] {
        try AppleSide.accounts(settings, verifier, clock) { event in
            contacts.note(event, at: clock.now)
            reporter.report(event)
        }
    }

    private static func watches(
        _ settings: ServeSettings,
        _ store: any Store,
        _ clock: SystemClock,
        _ reporter: Reporter
    ) -> (room: RoomWatch, backlog: BacklogWatch) {
        let folder = settings.database.url == nil ? settings.data : nil
        return (
            RoomWatch(store: store, folder: folder, reporter: reporter),
            BacklogWatch(store: store, apps: settings.apps.map(\.id), clock: clock, reporter: reporter)
        )
    }

    /// What else a customer bought is asked for with the first purchase, where the app wants it.
    private static func firsts(_ settings: ServeSettings, _ queue: JobQueue) -> FirstPurchases {
        FirstPurchases(among: settings.apps) { key, write throws(StoreFailure) in
            try queue.enqueue(CustomerReading(.history, of: key), in: write)
        }
    }

    private static func parts(
        _ settings: ServeSettings,
        _ pipeline: PurchasePipeline,
        _ intake: NotificationIntake,
        _ queues: (consumption: ConsumptionQueue, support: SupportQueue),
        _ signing: [AppID: MerchantDesk],
        _ store: any Store,
        _ clock: SystemClock,
        _ sender: WebhookSender,
        _ feed: LiveFeed,
        _ reporter: Reporter
    ) -> APIParts {
        APIParts(
            pipeline: pipeline,
            notifications: intake,
            notificationTokens: settings.appStores.compactMapValues(\.notificationToken),
            consumption: queues.consumption,
            support: queues.support,
            signing: signing,
            store: store,
            apps: settings.apps,
            keys: settings.keys,
            customers: settings.customers,
            clock: clock,
            requestsPerSecond: settings.requestsPerSecond,
            egress: settings.egress,
            sender: sender,
            feed: feed,
            pause: { (try? await Task.sleep(for: $0)) != nil },
            signer: settings.signer,
            failed: { reporter.report($0) }
        ) { reporter.metrics.text() }
    }

    private static func intake(
        _ settings: ServeSettings,
        _ verifier: Verifier,
        _ recorder: Recorder,
        _ store: any Store,
        _ refusals: RefusalLedger,
        _ clock: SystemClock,
        _ queue: JobQueue,
        _ reporter: Reporter
    ) -> NotificationIntake {
        NotificationIntake(
            verifier: verifier,
            recorder: recorder,
            store: store,
            refusals: refusals,
            secrets: settings.appStores.compactMapValues(\.sharedSecret),
            clock: clock,
            queue: ConsumptionQueue(queue),
            refunds: RefundQueue(queue),
            looks: LookQueue(queue)
        ) { reporter.report($0) }
    }

    private static func sender(
        _ settings: ServeSettings,
        _ store: any Store,
        _ clock: SystemClock,
        _ reporter: Reporter
    ) -> WebhookSender {
        let caller = CurlCaller(.outward(settings.egress, connectionsMax: House.connectionsMax))
        return WebhookSender(
            work: StoredWebhookWork(store),
            post: WebhookPost(caller: caller.caller, clock: clock, rule: settings.egress),
            clock: clock,
            owner: BackgroundWork.owner()
        ) { reporter.report($0) }
    }
}
