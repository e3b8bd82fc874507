import PurchaseModel
import Storage

/// Figures over time are the sums of what the rows come to.
///
/// What is missing is found over one snapshot and added in one write. Whatever is written between the two adds to the rows
/// and to the figures alike, so that servers may go on meanwhile; ended midway, it has changed nothing. Another correction
/// alone adds to the figures what is in the rows already: each counts on from the last one that its snapshot has, or is none.
enum FigureRebuild {
    struct Found: Sendable {
        var told: LedgerDifference
        var missing = FigureSums()
        /// How many corrections the snapshot has.
        var corrections: Int64 = 0
    }

    /// How many corrections of others may come between a snapshot and its own. After one nothing should be missing.
    private static let attemptsMax = 10

    /// - Returns: `nil` when they are.
    static func difference(of app: AppID, _ reader: any StoreReader) throws(StoreFailure) -> Found? {
        do throws(StoreFailure) {
            let missing = try FigureRecount.difference(of: app, reader)
            let isDue = try reader.figuresAreDue(app: app)
            if missing.isEmpty, !isDue { return nil }
            return Found(
                told: .figures(app, differing: missing.values.count),
                missing: missing,
                corrections: try reader.figureCorrections(app: app)
            )
        } catch .broken {
            return Found(told: .leftFigures(app, why: "a row cannot be read"))
        }
    }

    static func apply(to store: any Store, of app: AppID) async throws(StoreFailure) -> LedgerDifference? {
        for _ in 0..<attemptsMax {
            let found = try await store.read { reader throws(StoreFailure) in try difference(of: app, reader) }
            guard let found else { return nil }
            if case .leftFigures = found.told { return found.told }
            let isWritten = try await store.write { write throws(StoreFailure) in
                try write.correctFigures(of: app, by: found.missing, after: found.corrections)
            }
            if isWritten { return found.told }
        }
        throw .busy
    }
}
