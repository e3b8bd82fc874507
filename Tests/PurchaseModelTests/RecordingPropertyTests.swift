import PurchaseModel
import TestSupport
import Testing

/// What holds for any facts in any order. A red seed is a name to run again.
@Suite struct RecordingPropertyTests {
    @Test(arguments: UInt64(0)..<200)
    func anyOrderAndRepetitionOfTheSameFactsEndsInTheSameLedger(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let proofs = try (0..<Int.random(in: 1...8, using: &random)).map { _ in try Self.proof(&random) }
        let expected = try Self.facts(of: proofs)
        for _ in 0..<6 {
            let again = (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in
                proofs.randomElement(using: &random)
            }
            #expect(try Self.facts(of: (proofs + again).shuffled(using: &random)) == expected)
        }
        // Nor does it matter how the transactions are spread over proofs.
        let single = try proofs.flatMap { proof in
            try proof.transactions.map { try Facts.recording($0, realm: proof.realm) }
        }
        #expect(try Self.facts(of: single.shuffled(using: &random)) == expected)
    }

    @Test(arguments: UInt64(0)..<200)
    func recordingTwiceChangesNothing(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let proofs = try (0..<Int.random(in: 1...8, using: &random)).map { _ in try Self.proof(&random) }
        var ledger = Ledger()
        for proof in proofs {
            ledger.record(proof)
            let rows = ledger.rows
            let again = ledger.record(proof, at: .init(milliseconds: .max))
            #expect(again.changes == [])
            #expect(again.isRepetition)
            #expect(ledger.rows == rows)
        }
        for proof in proofs.shuffled(using: &random) { #expect(ledger.record(proof).changes == []) }
    }

    @Test(arguments: UInt64(0)..<200)
    func eachTransactionIsNewExactlyOnceAndKeepsItsFirstOwner(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var ledger = Ledger()
        var owners: [TransactionKey: CustomerID] = [:]
        var seen: Set<TransactionKey> = []
        for _ in 0..<20 {
            let proof = try Self.proof(&random)
            for outcome in ledger.record(proof).outcomes {
                let key = outcome.recorded.key
                #expect(outcome.isNew == seen.insert(key).inserted)
                if owners[key] == nil { owners[key] = proof.customer }
                #expect(outcome.recorded.customer == owners[key])
                let isAnothers = proof.customer != nil && proof.customer != owners[key]
                #expect((outcome.standing == .ownedByAnother) == isAnothers)
            }
        }
    }

    private static func facts(of proofs: [Recording]) throws -> [TransactionKey: Transaction] {
        var ledger = Ledger()
        for proof in proofs { ledger.record(proof) }
        return ledger.facts
    }

    /// A proof of up to 4 of 5 transactions, in few enough variants that facts meet and tie.
    private static func proof(_ random: inout SeededRandom) throws -> Recording {
        var recording = try Facts.recording(
            customer: ["ann", "bob", nil].randomElement(using: &random) ?? nil,
            realm: Realm(environment: Bool.random(using: &random) ? .production : .sandbox, isTestSigned: false)
        )
        recording.transactions = try (0..<Int.random(in: 0...4, using: &random)).map { _ in try fact(&random) }
        return recording
    }

    /// What Apple signs at some moment about one of five transactions, in a richer or a poorer format. All facts about
    /// one number are of one history: it may be refunded and made good again, and its end may be moved.
    private static func fact(_ random: inout SeededRandom) throws -> Transaction {
        let number = Int64.random(in: 0...4, using: &random)
        let second = Int64.random(in: 0...9, using: &random)
        let isSubscription = number % 2 == 1
        let isReceipt = Int.random(in: 0...2, using: &random) == 0
        var fact = try Facts.transaction(number, signed: second)
        fact.kind = isSubscription ? .autoRenewable : .consumable
        fact.purchasedAt = cut(Timestamp(milliseconds: 1_599_999_000_123), isReceipt)
        // Taken back at 3, good again at 6 or never.
        let isRefunded = number >= 2 && second >= 3 && (number == 2 || second < 6)
        if isRefunded, !isReceipt || isSubscription {
            fact.revocation = Revocation(at: cut(Timestamp(milliseconds: 1_600_000_003_456), isReceipt))
            if !isReceipt { fact.revocation?.type = "REFUND_FULL" }
        }
        if isSubscription {
            fact.expiresAt = cut(Timestamp(milliseconds: 1_700_000_000_789 + second / 4 * 5_000), isReceipt)
        }
        guard !isReceipt else {
            fact.ownership = nil
            return fact
        }
        // Monotonic: who sees it once sees it always.
        fact.isUpgraded = number == 3 && second >= 5
        // What never changes in a transaction's life is there or not, but not different.
        if Bool.random(using: &random) { fact.price = Price(milliunits: number, currency: "USD") }
        if Bool.random(using: &random) { fact.accountToken = AccountToken(high: 0, low: UInt64(number)) }
        return fact
    }

    /// Receipts have whole seconds.
    private static func cut(_ moment: Timestamp, _ isCut: Bool) -> Timestamp {
        isCut ? Timestamp(seconds: moment.milliseconds / 1_000) : moment
    }
}
