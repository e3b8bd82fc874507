import Storage

/// `assay migrate`: brings a ledger's schema up to date, as a server does when it starts.
struct Migrate {
    let place: LedgerPlace
    let isDryRun: Bool
    let isJSON: Bool

    init(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        place = try LedgerPlace(arguments, environment)
        isDryRun = arguments.isSet("dry-run")
        isJSON = arguments.isSet("json")
    }

    /// - Returns: 0 when it is up to date, or would be; 2 when it cannot be.
    func run() async -> Int32 {
        do throws(StoreOpenFailure) {
            let missing = try await missing()
            if !isDryRun, !missing.isEmpty { try await apply() }
            guard !isJSON else {
                Console.write(OperatorJSON.migrated(Array(missing), isDryRun: isDryRun))
                return 0
            }
            let word = isDryRun ? "would apply" : "applied"
            let lines = missing.isEmpty ? ["up to date"] : missing.map { "\(word) \($0)" }
            Console.write(lines.joined(separator: "\n") + "\n")
            return 0
        } catch {
            Console.error("assay migrate: \(ReportText.printable(place.shown)): \(StoreSentence.of(error))")
            return 2
        }
    }

    /// The migrations that are not applied yet, in their order.
    private func missing() async throws(StoreOpenFailure) -> ArraySlice<String> {
        let names: [String] =
            switch place {
            case .folder: SQLiteStore.migrationNames
            case .database: PostgreSQLStore.migrationNames
            }
        do throws(StoreOpenFailure) {
            guard let ledger = try await place.openToReadIfThere() else { return names[...] }
            await ledger.close()
            return []
        } catch .olderSchema(let found, _) {
            return names.dropFirst(found)
        }
    }

    private func apply() async throws(StoreOpenFailure) {
        await (try place.openToWrite()).close()
    }
}
