/// The outbox on disk: a journal, of which each line is on disk before anything follows from it.
///
/// It may end at any place. What a line that was cut off would have said, nobody was told. When most of the file is about
/// purchases that are finished, it is written anew: beside it, and moved into its place once it is whole.
package final class OutboxFile {
    /// A file of fewer bytes is never written anew only to be shorter.
    package static let bytesAtEase = 65_536

    private let storage: any JournalStorage
    private var size = 0
    /// How long the file may become before it is written anew.
    private var sizeMax = OutboxFile.bytesAtEase
    /// Whether the disk has what was written, no more and no less. Where that is not known, the file is written anew.
    private var isSound: Bool

    /// What was in it when it was opened.
    package let opened: Outbox
    /// How many lines of it could not be read.
    package let damagedLines: Int

    /// Opens it, and makes it if it is not there. On a full disk too: what is known can still be sent.
    package init(_ storage: any JournalStorage) throws(OutboxFault) {
        self.storage = storage
        let bytes = try storage.read()
        let content = try JournalLine.read(bytes)
        opened = content.outbox
        damagedLines = content.damaged
        isSound = content.isSound
        size = bytes.count
        sizeMax = max(Self.bytesAtEase, 2 * Self.bytes(of: opened).count)
        // What was read need not be on disk yet, nor need the file be in its place there, when whoever wrote it was killed.
        try storage.synchronize()
        try storage.synchronizeFolder()
        // On a full disk that waits until there is room.
        if !isSound || size > sizeMax { try? rewrite(opened) }
    }

    /// Has a change on disk when it returns.
    ///
    /// - Parameters:
    ///   - change: what happened.
    ///   - outbox: what it led to.
    /// - Throws: why it is not known to be there. It may be, or not; the next one makes up for it either way.
    package func write(_ change: Outbox.Change, leadingTo outbox: Outbox) throws(OutboxFault) {
        let line = JournalLine.bytes(change)
        guard isSound else { return try rewrite(outbox) }
        if size + line.count > sizeMax {
            // What cannot be made shorter, on a full disk say, may still have room for one line. But where the file's
            // state has become unknown on the way, that line may be lost.
            do throws(OutboxFault) { return try rewrite(outbox) } catch { if !isSound { throw error } }
        }
        isSound = false
        try storage.append(line)
        try storage.synchronize()
        isSound = true
        size += line.count
    }

    private func rewrite(_ outbox: Outbox) throws(OutboxFault) {
        let bytes = Self.bytes(of: outbox)
        try storage.writeSecond(bytes)
        // Until the folder is on disk, either of the two may be there after a failure of power.
        isSound = false
        try storage.replaceBySecond()
        try storage.synchronizeFolder()
        isSound = true
        size = bytes.count
        sizeMax = max(Self.bytesAtEase, 2 * size)
    }

    private static func bytes(of outbox: Outbox) -> [UInt8] {
        outbox.changes.reduce(into: JournalLine.header) { $0 += JournalLine.bytes($1) }
    }
}
