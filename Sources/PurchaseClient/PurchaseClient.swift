public import Foundation

/// Keeps each purchase on the device's disk until the server has recorded it, and only then tells the store that it is
/// finished.
///
/// Make one when the app starts, and have it ``run(_:customer:)`` for as long as the app does. Nothing is sent otherwise.
public actor PurchaseClient {
    let server: ServerAPI
    let transport: Transport
    let surroundings: Surroundings
    private let report: @Sendable (ClientEvent) -> Void
    private let file: OutboxFile

    var outbox: Outbox
    var pacing = Pacing()
    /// How the store is told, for what it has brought since the app was started: each as it was signed last.
    private var finishers: [String: StorePurchase] = [:]
    private var finishing: Set<String> = []
    private var watchers: [String: [AsyncStream<OutboxEntry.State>.Continuation]] = [:]
    /// Rung when there may be something to do.
    private var bells: [Int: AsyncStream<Void>.Continuation] = [:]
    private var bellCount = 0
    /// What holds up nobody.
    var aside = Aside()
    /// Counts how often the store is to be asked anew.
    var wakes = 0
    var knownEntitlements: [String: (tag: String, rows: [Entitlement])] = [:]

    /// Opens the outbox.
    ///
    /// - Parameters:
    ///   - settings: the app's key, for one.
    ///   - folder: of its own, in the app's own container; it is made if it is not there.
    ///   - transport: how requests reach the server.
    ///   - surroundings: the device's clock, patience and chance.
    ///   - report: is told what happens. It must not take long.
    /// - Throws: why the outbox cannot be opened. The store keeps what it has: try again later.
    public init(
        _ settings: ClientSettings,
        folder: URL,
        transport: Transport,
        surroundings: Surroundings,
        report: @escaping @Sendable (ClientEvent) -> Void
    ) throws(OutboxFault) {
        let file = try OutboxFile(FolderStorage(folder))
        self.init(settings, file: file, transport: transport, surroundings: surroundings, report: report)
    }

    package init(
        _ settings: ClientSettings,
        file: sending OutboxFile,
        transport: Transport,
        surroundings: Surroundings,
        report: @escaping @Sendable (ClientEvent) -> Void
    ) {
        server = ServerAPI(settings: settings)
        self.transport = transport
        self.surroundings = surroundings
        self.report = report
        outbox = file.opened
        let damaged = file.damagedLines
        self.file = file
        if damaged > 0 { report(.damaged(lines: damaged)) }
    }

    // MARK: What the app asks

    /// Takes a purchase that the app has just made. It is on disk when this returns, and sent as soon as the client runs.
    ///
    /// - Parameters:
    ///   - purchase: what the store has handed over. Do not finish it: the client does.
    ///   - customer: whose it is, in the shop's words; for a purchase that is known already it stays as it was.
    ///   - order: the order that it pays, if there is one.
    /// - Throws: why it is not on disk. The store has it still, and brings it again.
    public func submit(_ purchase: StorePurchase, customer: String, order: String? = nil) throws(OutboxFault) {
        guard Parcel.isCustomer(customer), order.map(Parcel.isName) ?? true else { throw .invalidName }
        try take(purchase, customer: customer, order: order)
    }

    /// Every purchase that is not finished: on its way, pending, or refused.
    public var unfinished: [OutboxEntry] { outbox.shown }

    /// How far a purchase has come, and each step from now on, until it is decided.
    ///
    /// - Parameter id: the transaction's number.
    /// - Returns: nothing for a purchase that is not known, or finished already.
    public func states(of id: String) -> AsyncStream<OutboxEntry.State> {
        let (stream, continuation) = AsyncStream<OutboxEntry.State>.makeStream()
        guard let entry = outbox[id] else {
            continuation.finish()
            return stream
        }
        continuation.yield(entry.state)
        if entry.state.isDecided { continuation.finish() } else { watchers[id, default: []].append(continuation) }
        return stream
    }

    /// Tries all at once, and asks the store for what is not finished: the app is in front again, the network is back, or
    /// somebody has signed in. Where the server has asked to wait, that is kept to.
    public func wake() {
        pacing.wake()
        wakes += 1
        ring()
    }

    /// Sends a refused purchase again, because the shop says that it has mended its mistake.
    ///
    /// - Parameter id: the transaction's number.
    public func sendAgain(_ id: String) {
        guard case .refused = outbox[id]?.state else { return }
        record(.requeue(id: id))
        ring()
    }

    /// Gives a refused purchase up for good: it is finished and forgotten. The customer has paid for it; do this only when
    /// somebody has looked at it, or the money is known to be back.
    ///
    /// - Parameter id: the transaction's number.
    public func giveUp(_ id: String) async {
        guard case .refused = outbox[id]?.state else { return }
        let isFinished = await finish(id)
        // What the store has not brought since the app was started is forgotten only: it comes again, and is looked at again.
        if isFinished || !canFinish(id), case .refused = outbox[id]?.state { forget(id) }
    }

    // MARK: What comes

    /// Writes a purchase down, if it is not known.
    func take(_ purchase: StorePurchase, customer: String, order: String?) throws(OutboxFault) {
        let now = surroundings.now()
        let parcel = Parcel(id: purchase.id, proof: purchase.proof, customer: customer, order: order, at: now)
        if let change = outbox.arrival(of: parcel, at: now) {
            var next = outbox
            next.apply(change)
            try file.write(change, leadingTo: next)
            outbox = next
            // What the store brought before it is older.
            finishers[purchase.id] = purchase
            pacing.forget(purchase.id)
            tell(purchase.id)
            ring()
        } else {
            noteFinisher(of: purchase)
        }
        aside.later.remove(purchase.id)
        finishIfConfirmed(purchase.id)
    }

    /// The store has brought a purchase, and may be told that it is finished. What is newer than the signature that is being
    /// sent stays to be sent, also when that one comes once more.
    func noteFinisher(of purchase: StorePurchase) {
        if let known = outbox[purchase.id], let noted = finishers[purchase.id],
            purchase.proof == known.proof, noted.proof != known.proof
        {
            return
        }
        finishers[purchase.id] = purchase
    }

    /// Writes down what has become of a purchase. It is so also when that fails, and the store is told: after the next start
    /// the server is asked once more, and says the same.
    func record(_ change: Outbox.Change) {
        outbox.apply(change)
        do throws(OutboxFault) {
            try file.write(change, leadingTo: outbox)
        } catch {
            report(.notWritten(error, purchase: change.id))
        }
        tell(change.id)
    }

    /// Sends what Apple signed anew while an older signature was on its way: it says something new, and what was finished is
    /// brought by nobody any more. After the next start the store brings it again by itself.
    func sendNewer(than id: String) {
        guard let entry = outbox[id], entry.state.isDecided, let brought = finishers[id], brought.proof != entry.proof
        else { return }
        let now = surroundings.now()
        let parcel = Parcel(id: id, proof: brought.proof, customer: entry.customer, order: entry.order, at: now)
        if let change = outbox.arrival(of: parcel, at: now) { record(change) }
    }

    /// Has the store told, if the server has the purchase and the store has brought it since the app was started. Sending
    /// goes on meanwhile: some stores take their time.
    func finishIfConfirmed(_ id: String) {
        guard case .confirmed = outbox[id]?.state, canFinish(id) else { return }
        doAside { await self.finishConfirmed(id) }
    }

    private func finishConfirmed(_ id: String) async {
        guard case .confirmed = outbox[id]?.state, await finish(id) else { return }
        // It may have come again with something new meanwhile.
        if case .confirmed = outbox[id]?.state { forget(id) }
    }

    /// - Returns: false when the store has not brought it, or is being told already.
    private func finish(_ id: String) async -> Bool {
        guard let purchase = finishers[id], finishing.insert(id).inserted else { return false }
        await purchase.finish()
        finishing.remove(id)
        tellApp(.finished(purchase: id))
        return true
    }

    /// Keeps nothing more of a purchase.
    func forget(_ id: String) {
        record(.forget(id: id))
        pacing.forget(id)
        finishers[id] = nil
    }

    /// Whether the store is being told, or could be.
    func canFinish(_ id: String) -> Bool { finishers[id] != nil }

    // MARK: Who is told

    func tellApp(_ event: ClientEvent) { report(event) }

    private func tell(_ id: String) {
        guard let waiting = watchers[id] else { return }
        let state = outbox[id]?.state
        let isOver = state?.isDecided ?? true
        for watcher in waiting {
            if let state { watcher.yield(state) }
            if isOver { watcher.finish() }
        }
        if isOver { watchers[id] = nil }
    }

    /// A request begins or ends, which nothing is written of.
    func setBusy(_ id: String, _ isBusy: Bool) {
        if isBusy { outbox.start(id) } else { outbox.stop(id) }
        // A question about what is pending changes nothing for who looks on.
        if case .pending = outbox[id]?.state { return }
        tell(id)
    }

    func ring() {
        for bell in bells.values { bell.yield() }
    }

    /// Waits until it is rung, or so many seconds have passed; for ever without a number.
    func rest(_ seconds: Double?) async {
        let (rings, bell) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        bellCount += 1
        let number = bellCount
        bells[number] = bell
        let sleep = surroundings.sleep
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in rings { return } }
            if let seconds { group.addTask { await sleep(seconds) } }
            await group.next()
            group.cancelAll()
        }
        bells[number] = nil
    }
}
