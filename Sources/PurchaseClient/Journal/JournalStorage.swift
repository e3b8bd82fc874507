/// Where the journal lies: a file, and while it is written anew a second one beside it. Live: ``FolderStorage``. In a
/// test: one that loses power between any two calls.
package protocol JournalStorage: AnyObject {
    /// All bytes of the file; none when it is not there.
    func read() throws(OutboxFault) -> [UInt8]
    /// Writes at the file's end, of which the disk need not know yet. When it throws, any part of it may be there.
    func append(_ bytes: [UInt8]) throws(OutboxFault)
    /// What was appended is on disk when this returns.
    func synchronize() throws(OutboxFault)
    /// Writes the second file, whatever was in it, and has it on disk.
    func writeSecond(_ bytes: [UInt8]) throws(OutboxFault)
    /// The second file takes the first one's place, at once or not at all; what is appended from now on goes to it.
    func replaceBySecond() throws(OutboxFault)
    /// What took the place is there also when the power fails.
    func synchronizeFolder() throws(OutboxFault)
}
