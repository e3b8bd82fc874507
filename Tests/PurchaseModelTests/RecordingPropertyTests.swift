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

    private static func fact(_ random: inout SeededRandom) throws -> Transaction {
        let number = Int64.random(in: 0...4, using: &random)
        var fact = try Facts.transaction(
            number,
            signed: .random(in: 0...5, using: &random),
            revoked: Bool.random(using: &random)
        )
        fact.revocation?.at = Facts.moment(.random(in: 0...2, using: &random))
        fact.expiresAt = Facts.moment(.random(in: 0...2, using: &random))
        fact.quantity = .random(in: 1...2, using: &random)
        fact.isUpgraded = Int.random(in: 0...5, using: &random) == 0
        // What never changes in a transaction's life is there or not, but not different.
        if Bool.random(using: &random) { fact.price = Price(milliunits: number, currency: "USD") }
        if Bool.random(using: &random) { fact.accountToken = AccountToken(high: 0, low: UInt64(number)) }
        return fact
    }
}
