import Foundation

extension PurchaseClient {
    /// After so many seconds the store is asked again for what is not finished: what could not be written down then, or
    /// was nobody's.
    private static let storeAskedEvery: Double = 3_600
    /// How long a purchase is left alone, in seconds, after the app was woken in both of two questions about it.
    private static let pauseAfterTwo: Double = 60

    /// Takes what the store brings, and sends all that is not decided, until the task is cancelled. What was not finished
    /// when the app ended goes on from there.
    ///
    /// Call it once, as early as the app starts: the store brings what happened elsewhere right away.
    ///
    /// - Parameters:
    ///   - source: StoreKit, mostly.
    ///   - customer: whose a purchase is that the store brings by itself. Answer nil when nobody is signed in, or when its
    ///     account token is another account's: it is left with the store, and asked about again after ``wake()``. One without
    ///     a token is of whoever is signed in. It may take its time: of one purchase it is asked once at a time, and of others
    ///     meanwhile.
    public func run(
        _ source: PurchaseSource,
        customer: @escaping @Sendable (StorePurchase) async -> String?
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await source.listen { purchase in await self.receive(purchase, customer) }
            }
            group.addTask { await self.askStore(source, customer) }
            group.addTask { await self.runAside() }
            for _ in 0..<server.settings.inFlightMax { group.addTask { await self.work() } }
            await group.waitForAll()
        }
    }

    private func receive(
        _ purchase: StorePurchase,
        _ customer: @escaping @Sendable (StorePurchase) async -> String?,
        round: Int = 0
    ) {
        // Of what is known already the app need not say it again.
        if let owner = outbox.owner(of: purchase.id, proof: purchase.proof) { return keep(purchase, of: owner) }
        // Whatever the app says, what was refused may be given up.
        if case .refused = outbox[purchase.id]?.state { noteFinisher(of: purchase) }
        guard aside.asking[purchase.id] == nil else { return tellUnclaimed(purchase) }
        aside.asking[purchase.id] = Question(wakes: wakes, round: round)
        doAside {
            let owner = await customer(purchase)
            await self.hear(owner, of: purchase, customer)
        }
    }

    /// The app has said whose a purchase is, or that it is nobody's, which says nothing when it is about to end. Whoever has
    /// signed in since it was asked may be whose it is: then it is asked once more at once, and if that was the same a last time
    /// after a while, and not again and again, as what an app shows to ask may wake it each time.
    private func hear(
        _ owner: String?,
        of purchase: StorePurchase,
        _ customer: @escaping @Sendable (StorePurchase) async -> String?
    ) {
        let asked = aside.asking.removeValue(forKey: purchase.id)
        if let owner, Parcel.isCustomer(owner) {
            keep(purchase, of: owner)
        } else if Task.isCancelled {
            // A run that was begun since has not asked its own app about it: the store is to bring it again there.
            wakes += 1
            ring()
        } else if let asked, asked.wakes != wakes, asked.round == 0 {
            receive(purchase, customer, round: 1)
        } else {
            tellUnclaimed(purchase)
            if let asked, asked.wakes != wakes, asked.round == 1 { askLater(purchase, customer) }
        }
    }

    private func askLater(_ purchase: StorePurchase, _ customer: @escaping @Sendable (StorePurchase) async -> String?) {
        guard aside.later.insert(purchase.id).inserted else { return }
        let sleep = surroundings.sleep
        doAside {
            await sleep(Self.pauseAfterTwo)
            await self.askLast(purchase, customer)
        }
    }

    private func askLast(_ purchase: StorePurchase, _ customer: @escaping @Sendable (StorePurchase) async -> String?) {
        // What was sent meanwhile may be finished, and forgotten.
        guard aside.later.remove(purchase.id) != nil, !Task.isCancelled else { return }
        receive(purchase, customer, round: 2)
    }

    private func tellUnclaimed(_ purchase: StorePurchase) {
        tellApp(.unclaimed(purchase: purchase.id, accountToken: purchase.accountToken))
    }

    private func keep(_ purchase: StorePurchase, of owner: String) {
        do throws(OutboxFault) {
            try take(purchase, customer: owner, order: nil)
        } catch {
            tellApp(.notKept(error, purchase: purchase.id))
        }
    }

    private func askStore(
        _ source: PurchaseSource,
        _ customer: @escaping @Sendable (StorePurchase) async -> String?
    ) async {
        while !Task.isCancelled {
            let asked = wakes
            let confirmed = outbox.entries.filter { if case .confirmed = $0.state { true } else { false } }
            let found = await source.unfinished()
            if Task.isCancelled { return }
            for purchase in found { receive(purchase, customer) }
            // What the store has no longer was finished just before the app ended. Should it come again after all, it is
            // sent again, and the server knows it.
            let ids = Set(found.map(\.id))
            for entry in confirmed where !ids.contains(entry.id) && !canFinish(entry.id) {
                if outbox[entry.id]?.state == entry.state { forget(entry.id) }
            }
            let until = surroundings.uptime() + Self.storeAskedEvery
            while wakes == asked, !Task.isCancelled {
                let left = until - surroundings.uptime()
                if left <= 0 { break }
                await rest(left)
            }
        }
    }

    // MARK: Sending

    /// One of the few that send: takes what is due, first come first, or waits until something is.
    private func work() async {
        while !Task.isCancelled {
            let now = surroundings.uptime()
            if let entry = outbox.next(isDue: { pacing.isDue($0, at: now) }) {
                setBusy(entry.id, true)
                await carry(entry)
                setBusy(entry.id, false)
                sendNewer(than: entry.id)
                finishIfConfirmed(entry.id)
                // It may be due at once, for those who rest.
                ring()
            } else {
                let next = pacing.next(of: outbox.waiting.map(\.id))
                await rest(next.map { max(0, $0 - now) })
            }
        }
    }

    private func carry(_ entry: OutboxEntry) async {
        guard let ruling = await ruling(on: entry) else { return }
        // While it was under way the app may have named its order, or given it up: then the answer was to something else.
        guard let current = outbox[entry.id], current.body == entry.body, !current.state.isDecided else { return }
        follow(ruling, current)
    }

    /// Asks the server; `nil` when the app is about to end.
    private func ruling(on entry: OutboxEntry) async -> Ruling? {
        let (settings, customer) = (server.settings, entry.customer)
        do {
            guard let token = await askApp({ await settings.customerToken(customer) }) else {
                return Task.isCancelled ? nil : .again(.unreachable(reason: "no customer token in time"), after: nil)
            }
            if case .pending(let submission) = entry.state {
                let answer = try await transport.send(server.question(about: submission, token: token))
                return Ruling(asking: submission, answer, at: surroundings.now())
            }
            let answer = try await transport.send(server.submission(entry.body, token: token))
            return Ruling(submitting: entry.id, answer, at: surroundings.now())
        } catch {
            // Cancelled, nothing went wrong.
            return Task.isCancelled ? nil : .again(.unreachable(error), after: nil)
        }
    }

    private func follow(_ ruling: Ruling, _ entry: OutboxEntry) {
        let id = entry.id
        switch ruling {
        case .confirmed(let decision):
            record(.confirm(id: id, Confirmation(decision: decision, at: surroundings.now())))
            pacing.forget(id)
            if let entry = outbox[id] { tellApp(.confirmed(entry)) }
        case .refused(let verdict, let reason):
            record(.refuse(id: id, Refusal(verdict: verdict, reason: reason, at: surroundings.now())))
            pacing.forget(id)
            if let entry = outbox[id] { tellApp(.refused(entry)) }
            for change in outbox.forgettable { record(change) }
        case .pending(let submission):
            if entry.state != .pending(submission: submission) { record(.wait(id: id, submission: submission)) }
            postpone(id, isTemporary: true, nil)
        case .decided:
            record(.requeue(id: id))
            pacing.hasten(id)
        case .again(let trouble, let pause):
            postpone(id, isTemporary: trouble.isTemporary, pause)
            tellApp(.trouble(trouble, purchase: id))
        }
    }

    private func postpone(_ id: String, isTemporary: Bool, _ retryAfter: Double?) {
        pacing.postpone(
            id,
            isTemporary: isTemporary,
            retryAfter: retryAfter,
            at: surroundings.uptime(),
            random: surroundings.chance()
        )
    }
}
