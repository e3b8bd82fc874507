import Pipeline
import PurchaseModel
import Storage

/// `assay export`: everything of one app, as lines for other programs, or for another ledger.
struct ExportCommand: Sendable {
    enum Format: String, CaseIterable, Sendable {
        case jsonl, csv
    }

    let place: LedgerPlace
    let app: AppID
    /// The apps of the configuration, if there is one.
    let configured: [AppID]
    let kinds: Set<ExportKind>
    let format: Format
    let includesProofs: Bool
    /// `nil` for standard output.
    let path: String?
    let isJSON: Bool

    init(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        let configuration = try LedgerPlace.configuration(arguments, environment)
        place = LedgerPlace(configuration)
        configured = configuration.apps.map(\.id)
        guard let name = arguments.value("app"), let app = AppID(name) else {
            throw UsageFault("--app is needed: the id of an app")
        }
        self.app = app
        kinds = try Self.kinds(arguments.value("only"))
        let word = arguments.value("format") ?? Format.jsonl.rawValue
        guard let format = Format(rawValue: word) else {
            throw UsageFault("--format \(word) is not known", hint: "--format jsonl|csv")
        }
        guard format == .jsonl || kinds.count == 1 else {
            throw UsageFault(
                "a table has one kind of rows: name it with --only",
                hint: "--format csv --only transaction"
            )
        }
        self.format = format
        includesProofs = !arguments.isSet("without-proofs")
        path = arguments.value("to")
        isJSON = arguments.isSet("json")
        guard path != nil || !isJSON else {
            throw UsageFault(
                "--json needs --to: without it the rows are on standard output, and their end says the same"
            )
        }
    }

    private static func kinds(_ words: String?) throws(UsageFault) -> Set<ExportKind> {
        guard let words else { return Set(ExportKind.allCases) }
        var kinds: Set<ExportKind> = []
        for word in words.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let text = String(decoding: word, as: UTF8.self)
            guard let kind = ExportKind(rawValue: text) else {
                let all = ExportKind.allCases.map(\.rawValue).joined(separator: ",")
                throw UsageFault("--only \(text) is not known", hint: "--only \(all)")
            }
            kinds.insert(kind)
        }
        return kinds
    }

    /// - Returns: 0 when all was written, 1 when rows are left out that cannot be read, 2 when it could not be done.
    func run() async -> Int32 {
        do {
            let report = if let path { try await write(to: path) } else { try await write(to: ExportFile(nil)) }
            for row in report.unreadable { Console.error("assay export: left out: \(ReportText.printable(row))") }
            let after = report.end.position
            if isJSON, let path {
                Console.write(OperatorJSON.exported(report, to: path))
                return report.unreadable.isEmpty ? 0 : 1
            }
            Console.error("assay export: \(report.rows) rows; what changes later is in the events after \(after)")
            return report.unreadable.isEmpty ? 0 : 1
        } catch {
            Console.error("assay export: \(ReportText.printable(Self.sentence(error, place)))")
            return 2
        }
    }

    /// A file without a purchase is not what was asked for when the app's id has a slip in it.
    private func checkApp(_ ledger: OpenedLedger) async throws {
        guard !configured.contains(app) else { return }
        let known = try await ledger.read { reader throws(StoreFailure) in try reader.knownApps() }
        guard !known.contains(app) else { return }
        throw UsageFault.unknownApp(
            app.text,
            configured.isEmpty ? "the ledger has no app" : "neither the ledger nor the configuration has an app",
            among: Set(known + configured)
        )
    }

    /// A table does not tell whether it is whole: so what has the name is.
    private func write(to path: String) async throws -> ExportReport {
        let file = UnfinishedFile(path)
        let signals = await StopSignals.discarding { file.discard() }
        defer { signals.cancel() }
        try file.make()
        do {
            let report = try await write(to: ExportFile(file.partPath))
            try file.finish()
            return report
        } catch {
            file.discard()
            signals.endIfHeard()
            throw error
        }
    }

    private func write(to file: ExportFile) async throws -> ExportReport {
        let ledger = try await place.openToRead()
        let result = await write(ledger, to: file)
        await ledger.close()
        let report = try result.get()
        guard report.isWhole else { throw file.fault }
        try file.close()
        return report
    }

    /// All of it over one snapshot. A database that was lost meanwhile is read once more.
    private func write(_ ledger: OpenedLedger, to file: ExportFile) async -> Result<ExportReport, any Error> {
        let (app, kinds, proofs, format, now) = (app, kinds, includesProofs, format, SystemClock().now)
        do {
            try await checkApp(ledger)
            return try await ledger.read { reader throws(StoreFailure) -> Result<ExportReport, any Error> in
                do throws(ExportFile.Fault) {
                    try file.begin()
                } catch {
                    return .failure(error)
                }
                let lines = ExportLines(format, kinds, file)
                var report = try LedgerExport.run(
                    app: app,
                    kinds: kinds,
                    includesProofs: proofs,
                    over: reader,
                    at: now,
                    lines.take
                )
                if report.isWhole { report.isWhole = lines.end(report, of: app) }
                return .success(report)
            }
        } catch {
            return .failure(error)
        }
    }

    private static func sentence(_ error: any Error, _ place: LedgerPlace) -> String {
        switch error {
        case let fault as UsageFault: fault.description
        case let fault as ExportFile.Fault: fault.sentence
        case let fault as UnfinishedFile.Fault: fault.description
        default: "\(place.shown): \(StoreSentence.of(error))"
        }
    }
}
