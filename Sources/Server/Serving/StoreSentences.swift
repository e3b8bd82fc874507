import Storage

/// A store's failures for people.
extension StoreOpenFailure {
    var sentence: String {
        switch self {
        case .alreadyOpen: "another process has the data folder open"
        case .inaccessible(let path, let errno): "\(path) cannot be used (errno \(errno))"
        case .foreign: "the data folder holds a database that is not Assay's"
        case .absent: "there is no ledger yet"
        case .olderSchema:
            "an older version of Assay made this ledger, or its making was cut off; assay migrate brings it up to date"
        case .newerSchema: "a newer version of Assay made this ledger"
        case .changedMigration: "the ledger was made by a build whose schema differs from this one's"
        case .full: "no space is left for the ledger"
        case .broken(let code): StoreSentence.broken(code)
        case .unreachable(let words): "the database server cannot be used: \(words)"
        }
    }
}

extension StoreFailure {
    var sentence: String {
        switch self {
        case .conflict, .busy: "the database was in use for too long"
        case .unreachable: "the database server was lost, or takes no writes"
        case .full: "no space is left for the ledger"
        case .unstorable: "the database holds what it cannot hold"
        case .closed: "the database was closed"
        case .broken(let code): StoreSentence.broken(code)
        }
    }
}

enum StoreSentence {
    /// What PostgreSQL says to a role that lacks a privilege.
    private static let lacksPrivilege = "SQLSTATE 42501"

    fileprivate static func broken(_ code: Int32) -> String {
        let words = BrokenCode.words(code)
        return words == lacksPrivilege
            ? "the database's role lacks a privilege (\(words))"
            : "the database is damaged or cannot be read (\(words))"
    }

    /// Whatever went wrong with a store or a file, on one line.
    static func of(_ error: any Error) -> String {
        let sentence = (error as? StoreOpenFailure)?.sentence ?? (error as? StoreFailure)?.sentence ?? "\(error)"
        return ReportText.printable(sentence)
    }
}
