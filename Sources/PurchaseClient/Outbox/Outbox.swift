package import Foundation

/// All purchases that are on their way, in the order in which they came. A value: it decides, and does nothing itself.
package struct Outbox: Equatable, Sendable {
    /// What happens to a purchase; each is a line of the journal.
    package enum Change: Equatable, Sendable {
        /// It came, or its body has changed. What was there of it before is over.
        case queue(Parcel)
        /// The server has kept it, undecided.
        case wait(id: String, submission: String)
        /// The server is to be told again.
        case requeue(id: String)
        case confirm(id: String, Confirmation)
        case refuse(id: String, Refusal)
        /// It is finished, or the app has given it up.
        case forget(id: String)

        package var id: String {
            switch self {
            case .queue(let parcel): parcel.id
            case .wait(let id, _), .requeue(let id), .confirm(let id, _), .refuse(let id, _), .forget(let id): id
            }
        }
    }

    /// The server looks at what it has refused again after as long as that, in seconds.
    package static let refusalLasts: Double = 3_600
    /// At what it takes for made up, which mostly it is, more rarely: it has to be mended itself first.
    package static let doubtLasts: Double = 86_400
    /// Of the refused ones so many are kept, the newest: what was forgotten and comes again is sent again.
    package static let refusedMax = 100

    package private(set) var entries: [OutboxEntry] = []
    /// Those for which a request is under way.
    private var busy: Set<String> = []

    package init() {}

    package subscript(id: String) -> OutboxEntry? {
        guard var entry = entries.first(where: { $0.id == id }) else { return nil }
        if entry.state == .queued, busy.contains(id) { entry.state = .sending }
        return entry
    }

    /// As the app sees them.
    package var shown: [OutboxEntry] { entries.compactMap { self[$0.id] } }

    // MARK: What happens

    package mutating func apply(_ change: Change) {
        let place = entries.firstIndex { $0.id == change.id }
        if case .queue(let parcel) = change {
            let entry = OutboxEntry(parcel, state: .queued)
            if let place { entries[place] = entry } else { entries.append(entry) }
            return
        }
        // A line about something unknown tells nothing: what it followed was damaged, or is long forgotten.
        guard let place else { return }
        switch change {
        case .queue: break
        case .wait(_, let submission): entries[place].state = .pending(submission: submission)
        case .requeue: entries[place].state = .queued
        case .confirm(_, let confirmation): entries[place].state = .confirmed(confirmation)
        case .refuse(_, let refusal): entries[place].state = .refused(refusal)
        case .forget: entries.remove(at: place)
        }
    }

    /// What leads to the same outbox by the fewest changes.
    package var changes: [Change] {
        entries.flatMap { entry -> [Change] in
            guard let parcel = Parcel(entry) else { return [] }
            switch entry.state {
            case .queued, .sending: return [.queue(parcel)]
            case .pending(let submission): return [.queue(parcel), .wait(id: entry.id, submission: submission)]
            case .confirmed(let confirmation): return [.queue(parcel), .confirm(id: entry.id, confirmation)]
            case .refused(let refusal): return [.queue(parcel), .refuse(id: entry.id, refusal)]
            }
        }
    }

    /// The requests that are under way are no part of what is written down.
    package static func == (one: Outbox, other: Outbox) -> Bool { one.entries == other.entries }

    // MARK: What to do

    /// A purchase comes, from the app or by the store.
    ///
    /// - Parameters:
    ///   - parcel: what would be sent.
    ///   - now: by the device's clock.
    /// - Returns: what is to be written down; `nil` when all is known already.
    package func arrival(of parcel: Parcel, at now: Date) -> Change? {
        guard let known = self[parcel.id] else { return .queue(parcel) }
        let content = parcel.content
        if owner(of: parcel.id, proof: content.proof) == nil { return .queue(parcel.renaming(known)) }
        // Whose it is stays as it was said first: by now somebody else may have signed in.
        let isOthers = content.customer != known.customer
        if !isOthers, let order = content.order, order != known.order { return .queue(parcel) }
        switch known.state {
        case .queued, .sending, .pending: return nil
        case .confirmed:
            // What Apple has signed anew says something new. The same bytes were answered.
            return content.proof == known.proof ? nil : .queue(parcel.following(known))
        case .refused(let refusal):
            if isOthers { return .queue(parcel) }
            if content.proof != known.proof { return .queue(parcel.following(known)) }
            let age = now.timeIntervalSince(refusal.at)
            // A clock that was set back would make the hour last for ever.
            let isOver = age >= (refusal.doubtsProof ? Self.doubtLasts : Self.refusalLasts) || age < 0
            return isOver ? .requeue(id: parcel.id) : nil
        }
    }

    /// Whose a purchase is that comes; `nil` where the app has to say it. Earlier versions wrote words for nothing down as names,
    /// which no server takes any more: what is under one is nobody's, unless the server has recorded it so.
    package func owner(of id: String, proof: String) -> String? {
        guard let known = self[id] else { return nil }
        if Parcel.isCustomer(known.customer) { return known.customer }
        guard case .confirmed = known.state, known.proof == proof else { return nil }
        return known.customer
    }

    /// The first purchase that waits for a request, of those that are due.
    package func next(isDue: (String) -> Bool) -> OutboxEntry? {
        waiting.first { isDue($0.id) }
    }

    /// Those for which a request is to be made, now or later. What is nobody's waits for whose it is.
    package var waiting: [OutboxEntry] {
        entries.filter { !$0.state.isDecided && !busy.contains($0.id) && Parcel.isCustomer($0.customer) }
    }

    /// The oldest refusals above the number that is kept.
    package var forgettable: [Change] {
        let refused = entries.filter { if case .refused = $0.state { true } else { false } }
        return refused.prefix(max(0, refused.count - Self.refusedMax)).map { .forget(id: $0.id) }
    }

    package mutating func start(_ id: String) { busy.insert(id) }
    package mutating func stop(_ id: String) { busy.remove(id) }
}

extension Parcel {
    fileprivate init?(_ entry: OutboxEntry) {
        self.init(id: entry.id, body: String(decoding: entry.body, as: UTF8.self), at: entry.queuedAt)
    }

    /// The same purchase of somebody else: what it pays stays as it was said, unless it is said anew.
    fileprivate func renaming(_ known: OutboxEntry) -> Parcel {
        Parcel(id: id, proof: content.proof, customer: content.customer, order: content.order ?? known.order, at: at)
    }

    /// The same purchase with a newer proof: whose it is, and for which order, was said before.
    fileprivate func following(_ known: OutboxEntry) -> Parcel {
        Parcel(id: id, proof: content.proof, customer: known.customer, order: known.order, at: at)
    }
}
