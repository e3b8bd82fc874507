import CSQLite

/// The one connection that writes and checkpoints, on a queue of its own.
actor WriterConnection {
    private let queue: BlockingQueue
    private var connection: SQLiteConnection?
    private var lock: FolderLock?
    /// What went wrong with the disk. A page of which a write failed may be lost although a second try succeeds, so
    /// nothing is promised any more until the store is opened, and the log read, again.
    private var breakage: StoreFailure?
    private var schedule: CheckpointSchedule
    private let marks: EntitlementMarks

    // The queue lives as long as the actor.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - connection: the only one that writes.
    ///   - lock: let go when it closes.
    ///   - limits: how long the log may grow.
    ///   - marks: begun by whoever writes, and settled here as soon as the commit has ended.
    init(
        _ connection: sending SQLiteConnection,
        lock: FolderLock,
        limits: CheckpointLimits,
        marks: EntitlementMarks
    ) {
        self.marks = marks
        schedule = CheckpointSchedule(limits)
        self.connection = connection
        self.lock = lock
        queue = BlockingQueue()
    }

    /// Runs the closure in one transaction; returns after its commit is on disk.
    func write<Value: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> Value {
        guard let connection else { throw .closed }
        if let breakage { throw breakage }
        do throws(StoreFailure) {
            defer { marks.settle() }
            let value = try connection.write(body)
            scheduleCheckpoint(connection)
            return value
        } catch {
            note(error)
            throw error
        }
    }

    /// Whether the folder's disk has room; tried out where it is scarce, or was missing. No write goes on meanwhile.
    func isRoom(in folder: String, isMissing: Bool) -> Bool {
        guard isMissing || DiskRoom.free(at: folder).map({ $0 < DiskRoom.scarceBytes }) ?? false else { return true }
        return DiskRoom.isThere(in: folder)
    }

    /// Brings the whole log into the database and closes. What was queued before has run.
    func close() {
        if breakage == nil { _ = try? connection?.checkpoint(SQLITE_CHECKPOINT_TRUNCATE) }
        connection = nil
        lock = nil
    }

    private func scheduleCheckpoint(_ connection: SQLiteConnection) {
        guard schedule.isDue(pagesOfLog: connection.pagesOfLog) else { return }
        // After the answer, so that nobody waits for it but the next batch.
        queue.later { self.assumeIsolated { $0.checkpoint() } }
    }

    private func checkpoint() {
        guard let connection, breakage == nil else { return }
        do throws(StoreFailure) {
            schedule.finished(pagesOfLog: try connection.checkpoint(schedule.mode))
        } catch {
            schedule.finished(pagesOfLog: connection.pagesOfLog)
            note(error)
        }
    }

    /// A row that cannot be read fails the write that read it, and no other: SQLite itself had nothing to say against it.
    private func note(_ failure: StoreFailure) {
        guard case .broken = failure, connection?.isBroken == true else { return }
        breakage = failure
        connection?.keepLogOnClose()
    }
}
