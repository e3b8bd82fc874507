import AppStore
import FoundationEssentials
import Jobs
import Pipeline
import PurchaseModel
import Storage
import Verification

/// `assay import`: old purchases out of another system's books.
struct ImportCommand: Sendable {
    let settings: ServeSettings
    let place: LedgerPlace
    let app: AppPolicy
    let paths: [String]
    let word: ImportFiles.FormatWord?
    let columns: ImportColumns
    let delivery: ImportDelivery
    let namesCustomers: Bool
    let isPlan: Bool
    let isJSON: Bool
    let reportPath: String?

    init(_ configuration: Configuration, _ arguments: Arguments) throws(UsageFault) {
        settings = ServeSettings(configuration)
        place = LedgerPlace(configuration)
        guard let name = arguments.value("app") else {
            throw UsageFault("--app is needed: the id of an app of the configuration")
        }
        guard let app = settings.apps.first(where: { $0.id.text == name }) else {
            throw UsageFault.unknownApp(name, "the configuration has no app", among: settings.apps.map(\.id))
        }
        self.app = app
        paths = arguments.positionals
        word = try Self.word(arguments.value("format"), of: "format")
        delivery = try Self.word(arguments.value("deliver"), of: "deliver") ?? .elsewhere
        var columns = ImportColumns.usual
        if let name = arguments.value("from") {
            guard let preset = ImportColumns.presets[name] else {
                let names = ImportColumns.presets.keys.sorted().joined(separator: ", ")
                throw UsageFault("--from \(name) is not known", hint: "there is \(names)")
            }
            columns = preset
        }
        if let words = arguments.value("column") {
            guard let replaced = columns.replacing(words) else {
                throw UsageFault(
                    "--column \(words) cannot be read",
                    hint: "--column proof=NAME,transaction_id=NAME,customer=NAME,store=NAME"
                )
            }
            columns = replaced
        }
        self.columns = columns
        namesCustomers = arguments.isSet("named-for-customers")
        isPlan = arguments.isSet("plan")
        isJSON = arguments.isSet("json")
        reportPath = arguments.value("report")
        if reportPath != nil, paths.count > 1 || isPlan {
            throw UsageFault("--report is for the import of one file or folder")
        }
    }

    private static func word<Word: RawRepresentable<String> & CaseIterable>(
        _ text: String?,
        of flag: String
    ) throws(UsageFault) -> Word? {
        guard let text else { return nil }
        guard let word = Word(rawValue: text) else {
            let all = Word.allCases.map(\.rawValue).joined(separator: "|")
            throw UsageFault("--\(flag) \(text) is not known", hint: "--\(flag) \(all)")
        }
        return word
    }

    /// Half of what the app's budget leaves: the other half is for what customers wait for.
    var spacing: Duration { settings.spacing(of: .transaction) }

    var lanes: Int { ProcessInfo.processInfo.activeProcessorCount }

    /// What a server of this configuration will ask Apple about the app.
    var reach: AppleReach {
        let store = settings.appStores[app.id]
        return AppleReach(hasKey: store?.key != nil, hasSharedSecret: store?.sharedSecret != nil)
    }

    func verifier() throws -> Verifier {
        let anchors = try CertificateFolder.anchors(roots: settings.roots, certificates: settings.certificates)
        return Verifier(anchors: anchors, bytesMax: ImportReader.rowBytesMax)
    }

    /// Does something with a file or a folder. What is wrong with it is said with its name: there may be many.
    func reading<Value>(_ path: String, _ body: (ImportFiles) async throws -> Value) async throws -> Value {
        do {
            var files = try ImportFiles(path, word, columns, namesCustomers: namesCustomers)
            files.closedAt = try ImportReader.confirmEnd(of: files.source, files.format, columns)
            return try await body(files)
        } catch let fault as ImportSourceFault {
            throw UnreadableSource(path: path, fault: fault)
        }
    }

    /// - Returns: 0 when every row was taken or known, 1 when some were not, 2 when it could not be done.
    func run() async -> Int32 {
        do {
            return isPlan ? try await plan() : try await take()
        } catch {
            Console.error("assay import: \(ReportText.printable(Self.sentence(error, place)))")
            return 2
        }
    }

    private func take() async throws -> Int32 {
        let verifier = try verifier()
        // An older schema is brought up to date by migrate, knowingly: servers of that version may be running.
        await (try await place.openToReadIfThere())?.close()
        let store = try await place.openToWrite()
        do {
            let code = try await take(into: store, verifier)
            await store.close()
            return code
        } catch {
            await store.close()
            throw error
        }
    }

    private func take(into store: any Store, _ verifier: Verifier) async throws -> Int32 {
        let clock = SystemClock()
        let queue = BackgroundWork.queue(store, clock)
        let later: Importer.Later = { submission, due, write throws(StoreFailure) in
            try queue.enqueue(ImportedProofDecision(submission), due: due, in: write)
        }
        let importer = Importer(
            verifier: verifier,
            store: store,
            app: app,
            delivery: delivery,
            clock: clock,
            lanes: lanes,
            spacing: spacing,
            reach: reach,
            later: later
        )
        var counts = ImportCounts()
        for path in paths {
            let done = try await reading(path) { files in try await take(files, importer) }
            counts.add(done.counts)
            let last = try await importer.questionsLast()
            Console.write(ImportText.text(done, path, into: place, isJSON: isJSON, askingFor: last))
        }
        return counts.refused + counts.invalid > 0 ? 1 : 0
    }

    private func take(_ files: ImportFiles, _ importer: Importer) async throws -> ImportProgress {
        let id = try files.id(app: app.id, columns, delivery)
        let found = try await importer.progress(of: id)
        let refused = try await refused(of: files, since: found, importer)
        var progress = try await importer.continuation(of: found, refusedSince: refused)
        let file = try reportPath.map { try ImportReportFile($0, of: found, goingOnAt: progress) }
        if found.isDone { Console.error("assay import: \(ImportText.ofOneReadBefore(found, refused, files.path))") }
        var reader = try ImportReader(files.source, files.format, columns, from: progress.place, line: progress.line)
        var bar = ProgressBar(of: files.size)
        var lost = LostLines(files.path)
        while !progress.isDone {
            let rows = try reader.next(Importer.batchMax, bytesMax: Importer.batchBytesMax)
            lost.look(at: rows)
            progress = try await importer.take(
                rows,
                after: progress,
                report: file?.report,
                closedAt: files.closedAt
            ).progress
            try file?.write(progress)
            bar.show(progress.place, rows: progress.counts.rows)
        }
        bar.end()
        lost.end(reader)
        try file?.close()
        return progress
    }

    /// How many rows Apple has refused since the source was read to its end, and every row was taken: a look at each.
    private func refused(
        of files: ImportFiles,
        since found: ImportProgress,
        _ importer: Importer
    ) async throws -> Int64 {
        let counts = found.counts
        guard found.isDone, counts.untaken == 0, counts.asked + counts.known > 0 else { return 0 }
        var reader = try ImportReader(files.source, files.format, columns)
        var refused: Int64 = 0
        while true {
            let rows = try reader.next(Importer.batchMax, bytesMax: Importer.batchBytesMax)
            guard !rows.isEmpty else { return refused }
            refused += try await importer.refused(among: rows, since: found)
        }
    }

    static func sentence(_ error: any Error, _ place: LedgerPlace) -> String {
        switch error {
        case let source as UnreadableSource: source.sentence
        case let fault as ImportReportFile.Fault: fault.sentence
        case let failure as StoreOpenFailure: "\(place.shown): \(failure.sentence)"
        case let failure as StoreFailure: "\(place.shown): \(failure.sentence)"
        default: "\(error)"
        }
    }
}

/// What is wrong with a file or a folder as a whole.
private struct UnreadableSource: Error {
    /// Longer than the names of columns are. In a table without a header a proof stands there, and is nobody's to read.
    private static let nameMax = 40

    let path: String
    let fault: ImportSourceFault

    var sentence: String {
        switch fault {
        case .unreadable(let number): "cannot be read: \(FileFault(path: path, errno: number))"
        case .noColumns(let found) where found.allSatisfy(\.isEmpty):
            "\(path): the first line names no columns: it is empty, or a quote is open"
        case .noColumns(let found):
            "\(path): the first line names no column with a proof or a transaction's number, but "
                + "\(found.map(Self.shortened).joined(separator: ", ")); --column says which it is"
        case .lineEnds:
            "\(path): lines end with CR alone, or the first is longer than a row may be; "
                + "tr '\\r' '\\n' makes line ends of them"
        case .noEnd: "\(path) is not whole: the last line of an export has the kind end; export it once more"
        case .otherRows(let said, let found):
            "\(path) is not whole: its end tells of \(said) rows, and \(found) stand before it; export it once more"
        }
    }

    private static func shortened(_ name: String) -> String {
        name.count <= nameMax ? name : name.prefix(nameMax) + "…"
    }
}

extension ServeSettings {
    /// Between two questions to Apple that nobody waits for, if they are half of the budget.
    func spacing(of endpoint: ServerEndpoint) -> Duration {
        let budget = RequestBudget(
            perSecond: endpoint.perSecond,
            isProduction: true,
            share: RequestBudget.Share(percent: applePercent),
            at: Timestamp(milliseconds: 0)
        )
        return .milliseconds(2 * 3_600_000 / budget.perHour)
    }
}

extension ImportCounts {
    fileprivate mutating func add(_ other: ImportCounts) {
        recorded += other.recorded
        known += other.known
        asked += other.asked
        nothing += other.nothing
        otherStore += other.otherStore
        refused += other.refused
        invalid += other.invalid
        withoutCustomer += other.withoutCustomer
    }
}
