import Encoding
package import PurchaseModel

/// Lets stories happen in a store. The same story in the same store ends the same way.
package struct StoryTeller: Sendable {
    package private(set) var store: SimulatedStore
    private var labels: [String: TransactionID] = [:]
    private let app: BundleID
    private let startedAt: Timestamp

    /// Begins in a store of its own with the demo's app, in which nothing has happened yet.
    ///
    /// - Parameters:
    ///   - story: whose moment, seed and customers the store is to have.
    ///   - app: the app with its catalogue.
    package init(_ story: Story, app: StoreApp = DemoCatalogue.app()) {
        var store = SimulatedStore(startingAt: story.startsAt, seed: story.seed)
        var app = app
        if let gracePeriod = story.gracePeriod { app.gracePeriod = gracePeriod }
        if let url = story.notificationsURL {
            app.productionNotifications = NotificationTarget(url: url)
            app.sandboxNotifications = NotificationTarget(url: url)
        }
        store.set(app)
        self.init(in: store, app: app.bundleID)
    }

    /// Begins now in a store that has its app already.
    package init(in store: SimulatedStore, app: BundleID) {
        self.store = store
        self.app = app
        startedAt = store.now
    }

    /// Tells the whole story.
    ///
    /// - Returns: what is not as the story says it must be, in sentences.
    /// - Throws: ``StoryFault`` for a step that cannot be understood, or that the store refused.
    package mutating func tell(_ story: Story) throws(StoryFault) -> [String] {
        let before = store
        if let gracePeriod = story.gracePeriod { set(gracePeriod) }
        begin(story)
        for index in story.steps.indices { try take(index, of: story) }
        if let end = story.endsAt {
            guard let moment = end.after(startedAt) else { throw StoryFault("ends", StoryFault.tooLate) }
            store.advance(to: moment)
        }
        // What comes after it goes by the app's own again; a grace that has begun keeps its end.
        if story.gracePeriod != nil { set(before.apps[app]?.gracePeriod) }
        return story.expectation.differences(in: store, since: before, app: app)
    }

    private mutating func set(_ gracePeriod: GracePeriod?) {
        guard var changed = store.apps[app] else { return }
        changed.gracePeriod = gracePeriod
        store.set(changed)
    }

    // MARK: Bit by bit, for whoever does other things in between

    /// Adds its customers, who have done nothing yet.
    package mutating func begin(_ story: Story) {
        for customer in story.customers where customer.family == nil { add(customer) }
        for customer in story.customers {
            guard let family = customer.family else { continue }
            var alone = customer
            alone.family = nil
            add(alone)
            _ = try? store.perform(.setFamily(customer: customer.name, family: family))
        }
    }

    /// When each step is taken. One that names no moment is taken with the one before it.
    package func moments(of story: Story) -> [Timestamp] {
        var last = startedAt
        return story.steps.map { step in
            last = step.after?.after(startedAt) ?? last
            return last
        }
    }

    /// When the story ends, if it says so.
    package func end(of story: Story) -> Timestamp? { story.endsAt?.after(startedAt) }

    /// Takes one step in a store that others use, too: what this one was made with is its beginning.
    package mutating func take(_ index: Int, of story: Story, in shared: inout SimulatedStore) throws(StoryFault) {
        swap(&store, &shared)
        defer { swap(&store, &shared) }
        try take(index, of: story)
    }

    private mutating func take(_ index: Int, of story: Story) throws(StoryFault) {
        do throws(StoryFault) {
            try take(story.steps[index])
        } catch {
            throw error.inside("steps[\(index)]")
        }
    }

    /// One who is there already keeps what she has.
    private mutating func add(_ customer: StoreCustomer) {
        var customer = customer
        if let known = store.customers[customer.name] {
            customer.downloads = known.downloads
            customer.usedIntroductions = known.usedIntroductions
        }
        store.set(customer)
    }

    private mutating func take(_ step: Story.Step) throws(StoryFault) {
        if let after = step.after {
            guard let moment = after.after(startedAt) else { throw StoryFault("after", StoryFault.tooLate) }
            guard moment >= store.steadyNow else { throw StoryFault("after", "lies before the step before it") }
            store.advance(to: moment)
        }
        var members = try StoryMembers(step.value)
        _ = members.value("after")
        _ = members.value("refused")
        let (act, label) = try ActReader(store: store, labels: labels, defaultApp: app).act(&members)
        let outcome: ActOutcome
        do throws(ActRefusal) {
            outcome = try store.perform(act)
        } catch {
            guard step.refusal != error.rawValue else { return }
            throw StoryFault("act", "the store refused: \(error.rawValue)", refusal: error.rawValue)
        }
        if let refusal = step.refusal { throw StoryFault("refused", "it was done, not refused as \(refusal)") }
        if let label, case .done(let ids) = outcome, let newest = ids.last { labels[label] = newest }
    }
}
