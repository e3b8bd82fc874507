import PurchaseModel
import Storage
import TestSupport

/// Writes and counts purchases, for tests that are about files and not about what is in them.
enum Purchases {
    static func record(_ numbers: ClosedRange<Int64>, in store: any Store, proofBytes: Int = 100) async throws {
        for number in numbers { try await record([number], in: store, proofBytes: proofBytes) }
    }

    /// All in one write; tells how many were new.
    @discardableResult
    static func record(_ numbers: [Int64], in store: any Store, proofBytes: Int = 100) async throws -> Int {
        let app = try Samples.app()
        let recordings = try numbers.map { number in
            Recording(
                app: app,
                realm: Samples.production,
                transactions: [try Samples.fullTransaction(number)],
                customer: try Samples.customer("c\(number % 10)")
            )
        }
        let evidence = try Samples.evidence([UInt8](repeating: 7, count: proofBytes))
        let decisions = try await record(recordings, evidence, in: store)
        return decisions.count { $0.outcomes.contains(where: \.isNew) }
    }

    /// Decides some proofs one after the other, as they stand in one write, and tells how.
    @discardableResult
    static func record(
        _ recordings: [Recording],
        _ evidence: EvidenceRow,
        in store: any Store
    ) async throws -> [Decision] {
        try await store.write { write throws(StoreFailure) in
            var situation = try write.situation(around: recordings)
            var decisions: [Decision] = []
            for recording in recordings {
                let decision = decide(situation, recording, at: Samples.now)
                situation.apply(decision)
                try write.apply(decision, evidence: evidence)
                decisions.append(decision)
            }
            return decisions
        }
    }

    /// What takes ``recordFamily(in:)`` back to before copies were told apart: two of them were counted with their price, two
    /// What earlier versions left of ``recordFuller(in:)``: nothing was noted, or a receipt.
    static let fullerBefore = [
        "UPDATE transactions SET fuller_evidence = NULL WHERE transaction_id <> 2",
        "UPDATE transactions SET fuller_evidence = latest_evidence WHERE transaction_id = 2",
    ]

    /// Transactions that were proved twice: 1 and 2 by a JWS and then by a receipt, 3 by two receipts, 4 by two JWS, 5 once.
    static func recordFuller(in store: any Store) async throws {
        let formats: [[String]] = [
            ["jws_transaction", "app_receipt"], ["jws_notification", "transaction_receipt"],
            ["app_receipt", "app_receipt"], ["jws_transaction", "jws_transaction"], ["app_receipt"],
        ]
        for (place, formats) in formats.enumerated() {
            let row = try Samples.recorded(Samples.transaction(Int64(place + 1)))
            for (turn, format) in formats.enumerated() {
                var evidence = try Samples.evidence([UInt8(place * 2 + turn + 1)])
                evidence.format = format
                let change: LedgerChange = turn == 0 ? .insert(row) : .update(row)
                try await store.write { [evidence] write throws(StoreFailure) in
                    try write.apply(Decision(changes: [change]), evidence: evidence)
                }
            }
        }
    }

    /// By which proof each of these tells more than its newest does: the first byte of it.
    static func fuller(in store: any Store) async throws -> [UInt8?] {
        let keys = try (Int64(1)...5).map { try Samples.key($0) }
        return try await store.read { reader throws(StoreFailure) in
            try keys.map { key throws(StoreFailure) in try reader.fullerEvidence(of: key)?.proof.first }
        }
    }

    /// without.
    static let familyBefore = [
        "UPDATE figures SET amount = amount * 5 WHERE measure = 'renewals_due'",
        "UPDATE figures SET amount = amount * 3 WHERE measure = 'value_due'",
        "ALTER TABLE subscriptions DROP COLUMN is_shared",
    ]

    /// A month that one member of a family bought, and four copies: two of its price, one of a price beyond all reason, one
    /// of no currency.
    static func recordFamily(in store: any Store) async throws {
        let prices: [(milliunits: Int64, currency: String)] = [
            (9_990, "USD"), (9_990, "USD"), (9_990, "USD"), (.max, "USD"), (9_990, "usd"),
        ]
        for (place, price) in prices.enumerated() {
            var month = try Samples.transaction(Int64(place + 1))
            month.kind = .autoRenewable
            month.expiresAt = Samples.now.advanced(by: .seconds(30 * 86_400))
            month.ownership = place == 0 ? .purchased : .familyShared
            var renewal = Renewal(originalID: month.id, product: month.product, signedAt: month.signedAt)
            (renewal.renewsAt, renewal.willAutoRenew) = (month.expiresAt, true)
            renewal.nextPrice = Price(milliunits: price.milliunits, currency: price.currency)
            let recording = Recording(
                app: try Samples.app(),
                realm: Samples.production,
                transactions: [month],
                renewals: [renewal],
                customer: try Samples.customer("c\(place)")
            )
            try await record([recording], try Samples.evidence([UInt8(place)]), in: store)
        }
    }

    /// Of one app two trials in one subscription; of another one that is there under a second number, and its copy.
    static func recordTrials(in store: any Store) async throws {
        let trials: [(app: String, number: Int64, original: Int64, day: Int64, ownership: Ownership)] = [
            ("game", 1, 1, 0, .purchased), ("game", 2, 1, 150, .purchased), ("zoo", 1, 1, 0, .purchased),
            ("zoo", 2, 1, 0, .purchased), ("zoo", 3, 3, 0, .familyShared), ("zoo", 4, 3, 150, .familyShared),
        ]
        for trial in trials {
            var month = try Samples.transaction(trial.number)
            month.originalID = TransactionID(number: trial.original)
            month.kind = .autoRenewable
            month.purchasedAt = Samples.now.advanced(by: .seconds(trial.day * 86_400))
            month.expiresAt = month.purchasedAt.advanced(by: .seconds(30 * 86_400))
            month.ownership = trial.ownership
            month.offer = Offer(kind: .offerCode, discount: "FREE_TRIAL")
            let app = try Samples.app(trial.app)
            let recording = Recording(app: app, realm: Samples.production, transactions: [month])
            try await record([recording], try Samples.evidence([UInt8(trial.number)]), in: store)
        }
    }

    /// Two periods that another plan took the place of: of one Apple paid something back, of the other a receipt says when.
    static func recordUpgrades(in store: any Store) async throws {
        for (name, reason) in [("game", Int?.some(1)), ("zoo", nil)] {
            var month = try Samples.transaction(1)
            month.kind = .autoRenewable
            month.expiresAt = month.purchasedAt.advanced(by: .seconds(30 * 86_400))
            month.isUpgraded = true
            month.revocation = Revocation(at: month.purchasedAt.advanced(by: .seconds(86_400)), reason: reason)
            let app = try Samples.app(name)
            let recording = Recording(app: app, realm: Samples.production, transactions: [month])
            try await record([recording], try Samples.evidence([1]), in: store)
        }
    }

    /// Of which of the two all figures are to be counted anew.
    static func uncounted(in store: any Store) async throws -> [Bool] {
        let apps = [try Samples.app("game"), try Samples.app("zoo")]
        return try await store.read { reader throws(StoreFailure) in
            [try reader.figuresAreDue(app: apps[0]), try reader.figuresAreDue(app: apps[1])]
        }
    }

    /// How many renewals are due, and what they come to.
    static func due(in store: any Store) async throws -> [Int64] {
        let app = try Samples.app()
        let days = DayOfTime(number: 0)...DayOfTime(number: 100_000)
        return try await store.read { reader throws(StoreFailure) in
            var found: [Int64] = []
            for measure in [Measure.renewalsDue, .valueDue] {
                let question = FigureQuestion(app: app, realm: Samples.production, measure: measure, days: days)
                found += try reader.figures(question).map(\.amount)
            }
            return found
        }
    }

    static func count(in store: any Store) async throws -> Int {
        try await store.read { reader throws(StoreFailure) in try reader.figures().transactions }
    }

    /// Makes a store, fills it and closes it.
    static func make(in folder: String, _ numbers: ClosedRange<Int64>, proofBytes: Int = 100) async throws {
        let store = try SQLiteStore.open(folder: folder)
        try await record(numbers, in: store, proofBytes: proofBytes)
        await store.close()
    }
}
