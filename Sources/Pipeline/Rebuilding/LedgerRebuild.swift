package import PurchaseModel
package import Storage

/// Makes again what follows from the recorded transactions and the postings: balances, and what was given.
///
/// In steps of a bounded size, each over its own snapshot; whoever applies reads and writes a step in one write, which
/// another writer's change turns back. So servers that share the database may go on meanwhile.
package struct LedgerRebuild: Sendable {
    /// How many transactions are decided about in one write.
    static let stepMax = 100

    let apps: [AppPolicy]
    let now: Timestamp

    /// - Parameters:
    ///   - apps: how each delivers.
    ///   - now: the moment by which it is decided.
    package init(apps: [AppPolicy], at now: Timestamp) {
        self.apps = apps
        self.now = now
    }

    /// Says what differs, over one snapshot; changes nothing.
    package func compare(_ reader: any StoreReader) throws(StoreFailure) -> RebuildReport {
        var report = RebuildReport()
        for id in try reader.knownApps() {
            guard let app = apps.first(where: { $0.id == id }) else {
                report.add(.leftApp(id))
                continue
            }
            var place: WalkPlace?
            repeat {
                let page = try reader.walkWallets(app: id, after: place, limit: Self.stepMax)
                report.wallets += page.rows.count
                for wallet in page.rows {
                    if let found = try WalletRebuild.difference(wallet.key, reader) { report.add(found) }
                }
                place = page.next
            } while place != nil
            repeat {
                let page = try reader.walkTransactions(app: id, after: place, limit: Self.stepMax)
                report.transactions += page.rows.count
                let rebuild = FulfilmentRebuild(app: app, now: now, reader: reader)
                for (_, step) in try rebuild.steps(page.rows.map(\.recorded.key)) {
                    report.add(step, isWritten: false)
                }
                place = page.next
            } while place != nil
            var last: ChainKey?
            repeat {
                let page = try reader.walkFulfilments(app: id, after: place, limit: Self.stepMax)
                let chains = SubscriptionRebuild.chains(of: page.rows, after: last)
                for found in try SubscriptionRebuild(now: now, reader: reader).differences(chains) { report.add(found) }
                (place, last) = (page.next, page.rows.last?.chain ?? last)
            } while place != nil
            if let found = try FigureRebuild.difference(of: id, reader) { report.add(found.told) }
        }
        return report
    }

    /// Changes what differs, and says what that was.
    package func apply(to store: any Store) async throws(StoreFailure) -> RebuildReport {
        var report = RebuildReport()
        for id in try await store.read({ reader throws(StoreFailure) in try reader.knownApps() }) {
            guard let app = apps.first(where: { $0.id == id }) else {
                report.add(.leftApp(id))
                continue
            }
            try await applyWallets(of: id, to: store, &report)
            try await applyFulfilments(of: app, to: store, &report)
            try await applySubscriptions(of: id, to: store, &report)
            if let found = try await FigureRebuild.apply(to: store, of: id) { report.add(found) }
        }
        return report
    }

    private func applyWallets(
        of app: AppID,
        to store: any Store,
        _ report: inout RebuildReport
    ) async throws(StoreFailure) {
        var place: WalkPlace?
        repeat {
            let from = place
            let (page, differ) = try await store.read { reader throws(StoreFailure) in
                let page = try reader.walkWallets(app: app, after: from, limit: Self.stepMax)
                var differ: [WalletKey] = []
                for wallet in page.rows where try WalletRebuild.difference(wallet.key, reader) != nil {
                    differ.append(wallet.key)
                }
                return (page, differ)
            }
            report.wallets += page.rows.count
            for key in differ {
                let found = try await store.write { write throws(StoreFailure) in
                    let found = try WalletRebuild.difference(key, write)
                    if case .wallet(_, let rebuilt) = found {
                        var decision = Decision()
                        decision.wallets = [rebuilt]
                        try write.apply(decision, evidence: nil)
                    }
                    return found
                }
                if let found { report.add(found) }
            }
            place = page.next
        } while place != nil
    }

    private func applyFulfilments(
        of app: AppPolicy,
        to store: any Store,
        _ report: inout RebuildReport
    ) async throws(StoreFailure) {
        let now = now
        var place: WalkPlace?
        repeat {
            let from = place
            let (page, steps) = try await store.read { reader throws(StoreFailure) in
                let page = try reader.walkTransactions(app: app.id, after: from, limit: Self.stepMax)
                let rebuild = FulfilmentRebuild(app: app, now: now, reader: reader)
                return (page, try rebuild.steps(page.rows.map(\.recorded.key)))
            }
            report.transactions += page.rows.count
            for (keys, seen) in steps where !seen.found.isEmpty {
                if seen.decision.isEmpty {
                    report.add(seen, isWritten: false)
                    continue
                }
                let step = try await store.write { write throws(StoreFailure) in
                    let step = try FulfilmentRebuild(app: app, now: now, reader: write).step(keys)
                    try write.apply(step.decision, evidence: nil)
                    if !step.decision.events.isEmpty { try write.append(EventRows.rows(step.decision.events)) }
                    return step
                }
                report.add(step, isWritten: true)
            }
            place = page.next
        } while place != nil
    }
}

extension LedgerRebuild {
    private func applySubscriptions(
        of app: AppID,
        to store: any Store,
        _ report: inout RebuildReport
    ) async throws(StoreFailure) {
        let now = now
        var place: WalkPlace?
        var last: ChainKey?
        repeat {
            let (from, after) = (place, last)
            let (page, differ) = try await store.read { reader throws(StoreFailure) in
                let page = try reader.walkFulfilments(app: app, after: from, limit: Self.stepMax)
                let chains = SubscriptionRebuild.chains(of: page.rows, after: after)
                return (page, try SubscriptionRebuild(now: now, reader: reader).differences(chains))
            }
            for seen in differ {
                guard case .subscription(_, let row) = seen else {
                    report.add(seen)
                    continue
                }
                let found = try await store.write { write throws(StoreFailure) in
                    let found = try SubscriptionRebuild(now: now, reader: write).difference(row.chain)
                    if case .subscription(let stored, let rebuilt) = found {
                        var decision = Decision()
                        decision.subscriptions = [stored == nil ? .insert(rebuilt) : .update(rebuilt)]
                        if let stored { decision.figures.subtract(stored.figures) }
                        decision.figures.add(rebuilt.figures)
                        try write.apply(decision, evidence: nil)
                    }
                    return found
                }
                if let found { report.add(found) }
            }
            (place, last) = (page.next, page.rows.last?.chain ?? last)
        } while place != nil
    }
}

/// A balance is the sum of its postings.
enum WalletRebuild {
    /// - Returns: `nil` when it is.
    static func difference(_ key: WalletKey, _ reader: any StoreReader) throws(StoreFailure) -> LedgerDifference? {
        let stored = try reader.wallets([key]).first
        var (balance, uncollected): (Int64, Int64) = (0, 0)
        var last: Int64?
        // From the last posting on, which says how many there must be.
        var rest: Int64?
        repeat {
            let page = try reader.postings(key, before: rest, limit: Wallet.postingsMax)
            for posting in page {
                if let rest, posting.number != rest - 1 {
                    return .leftWallet(key, why: "posting \(rest - 1) is missing")
                }
                last = last ?? posting.number
                rest = posting.number
                balance &+= posting.change(of: .balance)
                uncollected &+= posting.change(of: .uncollected)
            }
            if page.isEmpty { break }
        } while rest != 1
        if let rest, rest != 1 { return .leftWallet(key, why: "posting \(rest - 1) is missing") }
        let rebuilt = Wallet(
            key,
            balance: balance,
            uncollected: uncollected,
            postings: last ?? 0,
            version: (stored?.version ?? 0) + 1
        )
        if let stored, stored.balance == balance, stored.uncollected == uncollected, stored.postings == last ?? 0 {
            return nil
        }
        return .wallet(stored: stored, rebuilt: rebuilt)
    }
}
