import Encoding
import PurchaseModel
import Storage

/// `assay ledger …`: looks at a ledger, beside running servers or without one, and changes nothing.
struct Ledger {
    let place: LedgerPlace
    let isJSON: Bool

    /// What is wrong with the ledger is on standard error; the exit code is 2 then, and for output that cannot be written.
    private static let unusable: Int32 = 2

    init(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        place = try LedgerPlace(arguments, environment)
        isJSON = arguments.isSet("json")
    }

    /// What was refused: how often for which reason, and the last ones themselves.
    func refusals(since moment: Timestamp, samples count: Int) async -> Int32 {
        await show { ledger throws(StoreFailure) in
            let (totals, samples) = try await ledger.read { reader throws(StoreFailure) in
                (
                    try reader.refusalTotals(
                        since: HourOfTime(containing: moment),
                        limit: TransactionPage.limitMax
                    ),
                    count == 0 ? [] : try reader.refusalSamples(limit: count)
                )
            }
            return (
                isJSON ? LedgerJSON.refusals(totals, samples) : Array(LedgerText.refusals(totals, samples).utf8), 0
            )
        }
    }

    /// The proofs behind a transaction, on every side of the wall where it is recorded.
    func evidence(of id: TransactionID, app: AppID) async -> Int32 {
        await show { ledger throws(StoreFailure) in
            let (found, apps) = try await ledger.read { reader throws(StoreFailure) in
                var found: [RecordedEvidence] = []
                for recorded in try reader.transactions(app: app, id: id) {
                    guard let first = try reader.evidence(of: recorded.key) else { continue }
                    let latest = try reader.latestEvidence(of: recorded.key)
                    found.append(
                        RecordedEvidence(
                            recorded: recorded,
                            proofs: [first] + (latest == first ? [] : [latest].compactMap(\.self))
                        )
                    )
                }
                return (found, try reader.knownApps())
            }
            guard apps.contains(app) else {
                let fault = UsageFault.unknownApp(app.text, "the ledger has no app", among: apps)
                Console.error("assay ledger: \(ReportText.printable("\(place.shown): \(fault)"))")
                return ([], Ledger.unusable)
            }
            return (isJSON ? LedgerJSON.evidence(found) : Array(LedgerText.evidence(found).utf8), found.isEmpty ? 1 : 0)
        }
    }

    /// The inventory of certificates.
    func certificates() async -> Int32 {
        await show { ledger throws(StoreFailure) in
            let seen = try await ledger.read { reader throws(StoreFailure) in try reader.certificates() }
            return (isJSON ? LedgerJSON.certificates(seen) : Array(LedgerText.certificates(seen).utf8), 0)
        }
    }

    private func show(
        _ body: (OpenedLedger) async throws(StoreFailure) -> (text: [UInt8], code: Int32)
    ) async -> Int32 {
        do {
            let ledger = try await place.openToRead()
            let shown: (text: [UInt8], code: Int32)
            do throws(StoreFailure) {
                shown = try await body(ledger)
            } catch {
                await ledger.close()
                throw error
            }
            await ledger.close()
            guard Console.write(shown.text) else {
                Console.error("assay ledger: standard output cannot be written")
                return Ledger.unusable
            }
            return shown.code
        } catch {
            Console.error("assay ledger: \(ReportText.printable(place.shown)): \(StoreSentence.of(error))")
            return Ledger.unusable
        }
    }
}

/// A transaction, and what first proved it and last changed it.
struct RecordedEvidence: Sendable {
    let recorded: RecordedTransaction
    /// One or two.
    let proofs: [EvidenceRow]
}

extension Ledger {
    /// The subcommand that is asked for; its own flags are checked here.
    static func run(
        _ name: String,
        _ arguments: Arguments,
        _ environment: [String: String]
    ) async throws(UsageFault) -> Int32 {
        let ledger = try Ledger(arguments, environment)
        switch name {
        case "ledger evidence":
            guard let text = arguments.value("app"), let app = AppID(text) else {
                throw UsageFault("--app is needed: the id of an app", hint: "--app shop")
            }
            guard let id = arguments.positionals.first.flatMap({ TransactionID($0) }) else {
                throw UsageFault("TRANSACTION is a number of Apple's")
            }
            return await ledger.evidence(of: id, app: app)
        case "ledger certificates": return await ledger.certificates()
        default:
            var since = Timestamp(milliseconds: 0)
            if let text = arguments.value("since") {
                guard let milliseconds = RFC3339.milliseconds(text) else {
                    throw UsageFault("--since is a moment such as 2024-02-29T12:00:00Z")
                }
                since = Timestamp(milliseconds: milliseconds)
            }
            var count = 10
            if let text = arguments.value("samples") {
                guard let number = TransactionID(text)?.number, number <= Int64(RefusalSample.listedMax) else {
                    throw UsageFault("--samples is a number from 0 to \(RefusalSample.listedMax)")
                }
                count = Int(number)
            }
            return await ledger.refusals(since: since, samples: count)
        }
    }
}
