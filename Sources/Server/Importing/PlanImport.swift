import Glibc
import Pipeline
import PurchaseModel
import Storage

// `assay import --plan`: reads and verifies all, and writes nothing.
extension ImportCommand {
    func plan() async throws -> Int32 {
        var plan = ImportPlan(app: app, verifier: try verifier(), reach: reach, at: SystemClock().now)
        let ledger = try await place.openToReadIfThere()
        var last = Duration.zero
        do {
            for path in paths { try await reading(path) { files in try await look(at: files, &plan, ledger) } }
            last = try await planned(in: ledger) + spacing * Int(plan.needApple)
            await ledger?.close()
        } catch {
            await ledger?.close()
            throw error
        }
        let compared = ledger == nil ? nil : place
        Console.write(ImportText.text(plan, comparedWith: compared, isJSON: isJSON, askingFor: last))
        return plan.refused.isEmpty && plan.invalid.isEmpty ? 0 : 1
    }

    /// For how long Apple will still be asked what imports before this one have planned.
    private func planned(in ledger: OpenedLedger?) async throws -> Duration {
        guard let ledger else { return .zero }
        let (app, now) = (app.id, SystemClock().now)
        return try await ledger.read { reader throws(StoreFailure) in try reader.importQuestionsLast(of: app, at: now) }
    }

    private func look(at files: ImportFiles, _ plan: inout ImportPlan, _ ledger: OpenedLedger?) async throws {
        var reader = try ImportReader(files.source, files.format, columns)
        var bar = ProgressBar(of: files.size)
        var lost = LostLines(files.path)
        while true {
            let rows = try reader.next(Importer.batchMax, bytesMax: Importer.batchBytesMax)
            guard let last = rows.last else { break }
            lost.look(at: rows)
            try await plan.look(at: rows, lanes: lanes) { lookup throws(StoreFailure) in
                guard let ledger else { return ImportLookup.Answer() }
                return try await ledger.read { reader throws(StoreFailure) in try lookup.answered(by: reader) }
            }
            bar.show(last.end, rows: plan.rows)
        }
        bar.end()
        lost.end(reader)
    }
}

/// How far a long command has come, on standard error, if that is a terminal.
struct ProgressBar {
    private static let width = 30
    private let size: Int64
    private let isShown = isatty(STDERR_FILENO) == 1
    private var shown: Int64 = -1

    init(of size: Int64) { self.size = size }

    mutating func show(_ place: Int64, rows: Int64) {
        guard isShown, size > 0 else { return }
        let thousandths = min(place, size) * 1_000 / size
        guard thousandths != shown else { return }
        shown = thousandths
        let full = Int(thousandths) * Self.width / 1_000
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: Self.width - full)
        Console.errorPart("\r[\(bar)] \(thousandths / 10) % \(rows) rows ")
    }

    /// Of something whose size nobody knows before.
    mutating func count(_ rows: Int64) {
        guard isShown, rows % 1_000 == 0 else { return }
        shown = rows
        Console.errorPart("\r\(rows) rows ")
    }

    func end() { if shown >= 0 { Console.errorPart("\n") } }
}
