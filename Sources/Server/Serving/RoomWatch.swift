import Storage

/// Looks every few seconds whether the ledger's disk has room, so that a server that can record nothing says so before
/// anybody is turned away, and takes purchases again by itself.
struct RoomWatch: Sendable {
    let store: any Store
    /// The ledger's; `nil` for a database, whose disk is another machine's.
    let folder: String?
    let reporter: Reporter

    /// Looks now, and again after each pause, until there is no other pause.
    func run(_ pause: @Sendable () async -> Bool) async {
        var wasFull = false
        repeat {
            await store.lookForRoom()
            let isFull = store.lacksRoom
            reporter.show(isFull: isFull, free: folder.flatMap { DiskRoom.free(at: $0) })
            if isFull != wasFull { reporter.report(isFull: isFull) }
            wasFull = isFull
        } while await pause()
    }
}
