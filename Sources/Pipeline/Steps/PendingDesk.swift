import PurchaseModel
package import Storage

/// Has what waits decided by Apple.
package struct PendingPlanner: Sendable {
    /// In the write that keeps a proof.
    package let plan: @Sendable (PendingSubmission, any StoreTransaction) throws(StoreFailure) -> Void
    /// Which one is to be hastened so that one of an import is decided now; `nil` where that waits for no turn of its own.
    package let inTurn: @Sendable (SubmissionID, any StoreReader) throws(StoreFailure) -> SubmissionID?
    /// Has one decided now.
    package let hasten: @Sendable (SubmissionID, any StoreTransaction) throws(StoreFailure) -> Void

    package init(
        plan: @escaping @Sendable (PendingSubmission, any StoreTransaction) throws(StoreFailure) -> Void,
        inTurn: @escaping @Sendable (SubmissionID, any StoreReader) throws(StoreFailure) -> SubmissionID?,
        hasten: @escaping @Sendable (SubmissionID, any StoreTransaction) throws(StoreFailure) -> Void
    ) {
        self.plan = plan
        self.inTurn = inTurn
        self.hasten = hasten
    }
}

/// Where everything waits that the bytes alone do not settle: no more of an app than may, and no more of a customer.
///
/// Who finds no place has cost no write: a flood of one customer's must not hold up the one writer by which all others'
/// purchases are recorded, nor take a place of the app's for as long as that takes.
struct PendingDesk: Sendable {
    /// What became of one that is to wait. As many wait already as may, and it is not among them: of the app, or of its
    /// customer.
    enum Keeping: Sendable {
        case place(SubmissionID, isNew: Bool)
        case appIsFull
        case customerIsFull
    }

    private let store: any Store
    private let clock: any WallClock
    private let room: PendingRoom
    private let customerMax: Int
    private let later: PendingPlanner?

    init(store: any Store, limits: PipelineLimits, clock: any WallClock, later: PendingPlanner?) {
        self.store = store
        self.clock = clock
        self.later = later
        room = PendingRoom(max: limits.pendingPerApp)
        customerMax = limits.pendingPerCustomer
    }

    /// Keeps one, unless it is kept already or there is no room for it.
    ///
    /// - Parameters:
    ///   - pending: what is to wait.
    ///   - other: the same under the name that the shop's own or an import's has; `nil` where that is its name.
    /// - Returns: where it waits, also if it did before; or that there is no room.
    /// - Throws: `StoreFailure`; then it is not known to be kept.
    func keep(
        _ pending: PendingSubmission,
        unless other: PendingSubmission? = nil
    ) async throws(StoreFailure) -> Keeping {
        let seen = try await store.read { reader throws(StoreFailure) in try look(pending, other, in: reader) }
        if let seen {
            guard let late = seen.late, let later else { return seen.keeping }
            try await store.write { transaction throws(StoreFailure) in try later.hasten(late, transaction) }
            return seen.keeping
        }
        guard let place = try await takeRoom(for: pending) else { return .appIsFull }
        var isKept = false
        defer { if !isKept { room.giveBack(place) } }
        let keeping = try await store.write { transaction throws(StoreFailure) -> Keeping in
            // Once more: in SQLite writes come one after another, so that none slips through.
            if let seen = try look(pending, other, in: transaction) {
                if let late = seen.late { try later?.hasten(late, transaction) }
                return seen.keeping
            }
            let kept = try transaction.keepPending(pending)
            if kept.isNew { try later?.plan(pending, transaction) }
            return .place(kept.id, isNew: kept.isNew)
        }
        if case .place(_, isNew: true) = keeping { isKept = true }
        return keeping
    }

    /// Has what waits already decided in time, too.
    func plan(_ kept: KeptSubmission) async throws(StoreFailure) {
        guard let later else { return }
        try await store.write { transaction throws(StoreFailure) in try later.plan(kept.submission, transaction) }
    }

    /// Has an app's places counted, if nobody did.
    func count(of app: AppID) async throws(StoreFailure) { try await room.load(app, from: store) }

    /// Has them counted anew.
    func recount(of app: AppID) async throws(StoreFailure) { try await room.recount(app, from: store) }

    /// What to do once one waits no more, to be asked for before that: its place is free for others, if it has one.
    func leaving(_ kept: KeptSubmission) -> @Sendable () -> Void {
        guard kept.submission.origin == .presented else { return {} }
        let place = room.place(kept.submission.proof.count, of: kept.submission.app)
        return { [room] in room.giveBack(place) }
    }

    private struct Seen: Sendable {
        let keeping: Keeping
        /// An import keeps it, and has it decided in its turn: somebody waits for it now. This one is to be hastened.
        var late: SubmissionID?
    }

    /// `nil` for what is new, where its customer has room.
    private func look(
        _ pending: PendingSubmission,
        _ other: PendingSubmission?,
        in reader: any StoreReader
    ) throws(StoreFailure) -> Seen? {
        // What the shop or its books brought for the same customer says no less.
        for alike in [other, pending].compactMap(\.self) {
            guard let known = try reader.submission(alike: alike) else { continue }
            return Seen(keeping: .place(known, isNew: false), late: try later?.inTurn(known, reader))
        }
        guard let customer = pending.customer else { return nil }
        let waiting = try reader.pendingCount(app: pending.app, customer: customer, limit: customerMax)
        return waiting < customerMax ? nil : Seen(keeping: .customerIsFull)
    }

    private func takeRoom(for pending: PendingSubmission) async throws(StoreFailure) -> PendingRoom.Place? {
        let bytes = pending.proof.count
        if let place = try await room.take(bytes, of: pending.app, in: store) { return place }
        guard try await room.recountOnceInAWhile(pending.app, from: store, at: clock.now) else { return nil }
        return try await room.take(bytes, of: pending.app, in: store)
    }
}

extension PendingSubmission {
    /// The same for the same customer under the name of what the shop itself, or an import, has brought; `nil` where that is its
    /// own, or it is for some stores only.
    var asShops: PendingSubmission? {
        guard environments == nil, let proofDigest else { return nil }
        var other = self
        other.digest = proofDigest
        other.proofDigest = nil
        return other
    }
}
