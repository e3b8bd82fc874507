// Writes purchases one by one, and says after each that it is on disk. The kill sweep of StorageTests ends it at every
// system call of its way, and then looks whether what it said is true.

import Glibc
import PurchaseModel
import Storage

// FOLDER COUNT [long | unchecked]: with a count of 0 it only makes the files; with "long" it writes a long decision as well,
// and one purchase more; with "unchecked" it brings nothing into the database before its end.

/// Purchases and a pending submission in one write, made from nothing but the first one's number and how many there are.
struct Step: Sendable {
    let recording: Recording
    let evidence: EvidenceRow
    let submission: PendingSubmission

    init?(_ number: Int64, purchases: Int64 = 1) {
        guard
            let app = AppID("probe"), let product = ProductID("coins"),
            let customer = CustomerID("customer-\(number)"),
            let digest = ProofDigest([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)),
            let name = SubmissionID([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16))
        else { return nil }
        let now = Timestamp(milliseconds: number)
        let transactions = (number..<number + purchases).compactMap { TransactionID(number: $0) }.map { id in
            Transaction(id: id, originalID: id, product: product, purchasedAt: now, signedAt: now)
        }
        recording = Recording(
            app: app,
            realm: Realm(environment: .production, isTestSigned: false),
            transactions: transactions,
            customer: customer
        )
        // Longer than a page, so that a row has parts that could be torn from each other.
        let proof = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 6_000)
        evidence = EvidenceRow(
            digest: digest,
            format: "probe",
            proof: proof,
            customer: customer,
            receivedAt: now,
            verdict: "recorded"
        )
        submission = PendingSubmission(
            id: name,
            app: app,
            digest: digest,
            format: "probe",
            proof: proof,
            customer: customer,
            order: nil,
            reason: "probe",
            receivedAt: now
        )
    }
}

/// Says one line, at once.
func say(_ line: String) {
    var bytes = Array((line + "\n").utf8)
    // The array outlives the call. A line this short is written whole or not at all.
    unsafe bytes.withUnsafeMutableBytes { bytes in _ = unsafe write(1, bytes.baseAddress, bytes.count) }
}

let words = CommandLine.arguments.dropFirst()
let way = words.dropFirst(2).first
guard
    words.count == 2 || words.count == 3 && (way == "long" || way == "unchecked"),
    let count = Int64(CommandLine.arguments[2])
else {
    say("usage: StoreProbe FOLDER COUNT [long | unchecked]")
    exit(2)
}

// Checkpoints after every few purchases, so that these are swept too.
let store = try SQLiteStore.open(
    folder: CommandLine.arguments[1],
    limits: way == "unchecked"
        ? CheckpointLimits(stepPages: .max, limitPages: .max) : CheckpointLimits(stepPages: 12, limitPages: 30)
)
/// Writes the purchase of that number, and says how it went.
func record(_ number: Int64) async {
    guard let step = Step(number) else { exit(2) }
    do throws(StoreFailure) {
        let isNew = try await store.write { transaction throws(StoreFailure) in
            let situation = try transaction.situation(around: [step.recording])
            let decision = decide(
                situation,
                step.recording,
                ownToken: { _ in nil },
                at: Timestamp(milliseconds: number)
            )
            try transaction.apply(decision, evidence: step.evidence)
            _ = try transaction.keepPending(step.submission)
            return !decision.isRepetition
        }
        say("\(number) \(isNew ? "new" : "known")")
    } catch {
        say("\(number) \(error)")
    }
}

for number in 0..<count { await record(number) }
if way == "long" {
    // More than fit into the pages that are kept in memory, so that a part is written before the commit.
    guard let step = Step(count), let long = Step(10_000, purchases: 5_000) else { exit(2) }
    do throws(StoreFailure) {
        try await store.write { transaction throws(StoreFailure) in
            let situation = try transaction.situation(around: [long.recording])
            let now = Timestamp(milliseconds: count)
            let decision = decide(situation, long.recording, ownToken: { _ in nil }, at: now)
            // Whoever does not stop at a failure must leave nothing either.
            let result = Result { () throws(StoreFailure) in try transaction.apply(decision, evidence: long.evidence) }
            _ = Result { () throws(StoreFailure) in try transaction.keepPending(step.submission) }
            if case .failure(let failure) = result { say("long stopped: \(failure)") }
            try result.get()
        }
        say("long new")
    } catch {
        say("long \(error)")
    }
    await record(count)
}
await store.close()
say("closed")
