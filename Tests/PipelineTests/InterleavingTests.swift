import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing
import Verification

/// Whatever is sent by whom, however it falls into batches, and whichever commits fail: the ledger is what deciding one
/// submission after another would have made it.
@Suite struct InterleavingTests {
    /// A proof, and what a ledger must make of it.
    struct Sample: Sendable {
        let proof: [UInt8]
        let transactions: [Transaction]
    }

    /// Six transactions in all their states, alone and together.
    static let samples = Result { try makeSamples() }

    @Test(arguments: UInt64(0)..<60) func anyInterleavingEndsInTheLedgerOfTheModel(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let samples = try Self.samples.get()
        let house = try PipelineHouse()
        var sent: [(sample: Sample, customer: String)] = []
        let outcomes = Noted<(place: Int, outcome: Outcome)>()
        try await house.open { (house) async throws in
            await withTaskGroup(of: Void.self) { group in
                for place in 0..<Int.random(in: 5...40, using: &random) {
                    let sample = samples[Int.random(in: 0..<samples.count, using: &random)]
                    let customer = ["ann", "bob", "eve"][Int.random(in: 0..<3, using: &random)]
                    sent.append((sample, customer))
                    group.addImmediateTask {
                        guard let outcome = try? await house.submit(sample.proof, customer: customer) else { return }
                        outcomes.note((place, outcome))
                    }
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0: house.store.hold()
                    case 1: house.store.releaseOne()
                    case 2: house.store.release()
                    case 3: house.store.fail([.full, .busy, .conflict][Int.random(in: 0..<3, using: &random)])
                    case 4: await Task.yield()
                    default: break
                    }
                }
                house.store.release()
            }
        }
        try await compare(sent, Dictionary(uniqueKeysWithValues: outcomes.values), with: house)
    }

    /// Replays on the model what was not answered with a failure, in the order of sending.
    private func compare(
        _ sent: [(sample: Sample, customer: String)],
        _ outcomes: [Int: Outcome],
        with house: PipelineHouse
    ) async throws {
        let realm = Realm(environment: .sandbox, isTestSigned: true)
        var model = Situation()
        for (place, submission) in sent.enumerated() {
            guard let outcome = outcomes[place] else { continue }
            let recording = Recording(
                app: house.app.id,
                realm: realm,
                transactions: submission.sample.transactions,
                customer: CustomerID(submission.customer)
            )
            let expected = decide(model, recording, at: PipelineHouse.now)
            model.apply(expected)
            guard case .recorded(let decision) = outcome else {
                Issue.record("\(outcome.word) at \(place)")
                continue
            }
            #expect(decision.outcomes == expected.outcomes, "\(place)")
        }
        let expected = model.transactions(app: house.app.id, realm: realm)
        let keys = expected.keys.map { TransactionKey(app: house.app.id, realm: realm, id: $0) }
        let found = try await house.store.read { reader throws(StoreFailure) in try reader.transactions(keys) }
        #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) }) == expected)
        #expect(try await house.figures().transactions == expected.count)
    }

    private static func makeSamples() throws -> [Sample] {
        var proofs: [[UInt8]] = []
        for number in Int64(0)..<6 {
            for second in Int64(0)..<3 {
                let signedAt = PipelineHouse.now.advanced(by: .seconds(second))
                let revokedAt = (number + second) % 3 == 2 ? signedAt : nil
                proofs.append(
                    try Proofs.jws(Proofs.transaction(number, revokedAt: revokedAt, signedAt: signedAt))
                )
            }
        }
        for numbers in [[0, 1], [1, 2, 3], [5, 0], [4, 4], [0, 1, 2, 3, 4, 5]] as [[Int64]] {
            let purchases = try numbers.map { try Proofs.transaction($0) }
            proofs.append(try TestAuthority.signer().receipt(purchases, createdAt: PipelineHouse.now))
        }
        let verifier = try PipelineHouse.verifier()
        return try proofs.map { proof in
            let proved = try #require(verifier.examine(proof, expecting: Expectation()).proof)
            return Sample(proof: proof, transactions: proved.fact.transactions)
        }
    }
}
