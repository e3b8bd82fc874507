import PurchaseModel
import Storage

/// Figures over time are the sums of what the rows come to.
///
/// What is missing is found over one snapshot and added in one write. Whatever is written between the two adds to the rows
/// and to the figures alike, so that servers may go on meanwhile; ended midway, it has changed nothing.
enum FigureRebuild {
    struct Found: Sendable {
        var told: LedgerDifference
        var missing = FigureSums()
    }

    /// - Returns: `nil` when they are.
    static func difference(of app: AppID, _ reader: any StoreReader) throws(StoreFailure) -> Found? {
        do throws(StoreFailure) {
            let missing = try FigureRecount.difference(of: app, reader)
            let isDue = try reader.figuresAreDue(app: app)
            if missing.isEmpty, !isDue { return nil }
            return Found(told: .figures(app, differing: missing.values.count), missing: missing)
        } catch .broken {
            return Found(told: .leftFigures(app, why: "a row cannot be read"))
        }
    }

    static func apply(to store: any Store, of app: AppID) async throws(StoreFailure) -> LedgerDifference? {
        let found = try await store.read { reader throws(StoreFailure) in try difference(of: app, reader) }
        guard let found else { return nil }
        if case .leftFigures = found.told { return found.told }
        try await store.write { write throws(StoreFailure) in
            try write.correctFigures(of: app, by: found.missing)
        }
        return found.told
    }
}
