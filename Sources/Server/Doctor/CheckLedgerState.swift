import FoundationEssentials
import Glibc
import PurchaseModel
import Storage

/// The ledger as it stands: whether it opens, how it is kept, who may look at it, when it was copied.
struct CheckLedgerState {
    /// A copy that is older is worth a word.
    private static let copyAge = Duration.seconds(86_400 + 7_200)

    let place: LedgerPlace
    /// The path of the configuration, if one is named.
    let configuration: String?
    let machine: ServerUser.Machine
    let now: Timestamp

    /// - Returns: the open ledger, for who asks it more; `nil` when it does not open.
    func open() async -> (ledger: OpenedLedger?, findings: [Finding]) {
        // Before the ledger is read: who reads it may make files beside it.
        let strangers = strangers()
        do throws(StoreOpenFailure) {
            let ledger = try await place.openToRead()
            let version =
                switch place {
                case .folder: SQLiteStore.migrationNames.last
                case .database: PostgreSQLStore.migrationNames.last
                }
            return (ledger, [.ok("ledger", "\(place.shown): up to date with \(version ?? "nothing")")] + strangers)
        } catch {
            if case .inaccessible(_, EACCES) = error, !strangers.isEmpty { return (nil, strangers) }
            return (nil, [Self.finding(error, place.shown)] + strangers)
        }
    }

    private func strangers() -> [Finding] {
        guard case .folder(let folder) = place, let host = FileStatus(folder)?.owner else { return [] }
        let lock = FileStatus(folder + "/assay.lock")?.place
        let user = ServerUser.find(lock: lock, owner: host, configuration: configuration, on: machine)
        let names = ["assay.lock", "assay.sqlite", "assay.sqlite-wal", "assay.sqlite-shm"]
        let files = names.compactMap { name in FileStatus(folder + "/" + name).map { (name, $0.owner) } }
        return Self.strangers(files, in: folder, of: host, to: user)
    }

    /// Files that another user has made in the server's folder, such as root at a restore: the server cannot open them, for they
    /// are readable to their owner alone. To root, who can, everything looks as if it were good.
    ///
    /// - Parameters:
    ///   - files: with the numbers of their owners.
    ///   - folder: that they are in.
    ///   - host: the folder's owner.
    ///   - user: who the server runs as.
    /// - Returns: one finding, or none.
    static func strangers(
        _ files: [(name: String, owner: UInt32)],
        in folder: String,
        of host: UInt32,
        to user: ServerUser
    ) -> [Finding] {
        let names = files.filter { user.id != 0 && $0.owner != user.id }.map(\.name)
        guard !names.isEmpty else { return [] }
        let found =
            "\(names.joined(separator: ", ")): of another user than the server's, user \(user.id), \(user.known)"
        return [
            .fail(
                "ledger",
                "\(folder): \(found)",
                cause: "A command that was run as another user than the server's made it.",
                fix: host == user.id
                    ? "chown --reference=\(folder) \(folder)/assay.*"
                    : "chown \(user.id) \(folder) \(folder)/assay.*, if that is the user that is to serve it"
            )
        ]
    }

    private static func finding(_ failure: StoreOpenFailure, _ shown: String) -> Finding {
        let found = "\(shown): \(failure.sentence)"
        switch failure {
        case .absent, .inaccessible(_, ENOENT):
            return .warn("ledger", found, cause: "No server has started here yet.", fix: "assay serve makes it")
        case .olderSchema: return .warn("ledger", found, fix: "assay migrate, after assay backup; serve does it too")
        case .newerSchema: return .fail("ledger", found, fix: "install the newer version of Assay again")
        case .full: return .fail("ledger", found, fix: "make room on its disk")
        case .alreadyOpen: return .warn("ledger", found, fix: "ask again")
        case .inaccessible: return .fail("ledger", found, fix: "run the doctor as the server's user")
        case .unreachable: return .fail("ledger", found, fix: "look at database.url, and whether the server runs")
        case .foreign, .changedMigration: return .fail("ledger", found, fix: "look whether this is the right place")
        case .broken: return .fail("ledger", found, fix: "assay check says more; then restore a copy")
        }
    }

    /// Accounts, and how the database keeps what it has.
    func look(into ledger: OpenedLedger) async -> [Finding] {
        do throws(StoreFailure) {
            let settings = try await ledger.settings()
            let hasAccount = try await ledger.read { reader throws(StoreFailure) in
                try reader.admins().contains { $0.isEnabled }
            }
            return CheckDurability.findings(settings) + [Self.account(hasAccount)]
        } catch {
            return [.fail("ledger", "\(place.shown): \(error.sentence)", fix: "assay check says more")]
        }
    }

    private static func account(_ hasOne: Bool) -> Finding {
        if hasOne { return .ok("dashboard", "there is an account") }
        return .warn(
            "dashboard",
            "nobody can sign in",
            fix: "start the server, and open the path that its log's line first_account names; it works once"
        )
    }

    /// The newest copy in a folder, by the time of its digest. A digest without its copy is of one that was cut off or is gone.
    func copies(in folder: String) -> Finding {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let dates = files.filter { $0.hasSuffix(".sha256") }.compactMap { name in
            let path = folder + "/" + name
            let copy = FileStatus(String(path.dropLast(".sha256".count)))
            return copy.map { $0.isRegular && $0.size > 0 } == true ? FileStatus(path)?.changed : nil
        }
        let fix = "assay backup --to \(folder)/NAME, every day; assay-backup.timer of the Debian package does it"
        guard let newest = dates.max() else { return .fail("backup", of: folder, "no copy lies there", fix: fix) }
        let age = newest.duration(to: now)
        let found = "the newest copy is \(max(0, age.components.seconds) / 3_600) h old"
        return age > Self.copyAge
            ? .warn("backup", of: folder, found, fix: fix) : .ok("backup", of: folder, found)
    }
}
