import Pipeline
import Storage

/// The report of an import: one line for each row, each once, however often the import was cut off.
///
/// What was written last stands in the ledger too, with how long the file was before. So whoever goes on first puts the file
/// back to that, and writes those lines again.
struct ImportReportFile {
    struct Fault: Error {
        let sentence: String
    }

    let report: ImportReport
    private let path: String
    private let file: OpenFile

    /// Opens the file and makes it what the progress says; touches none that is another's.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - found: how far the source was read, and so what the file should be by now.
    ///   - next: where the import goes on; its beginning, also when it begins again and the report with it.
    /// - Throws: ``Fault`` with what is to be said.
    init(_ path: String, of found: ImportProgress, goingOnAt next: ImportProgress) throws(Fault) {
        self.path = path
        report = path.hasSuffix(".csv") ? .csv : .jsonLines
        let isBegun = found.reportBytes > 0 || !found.reportTail.isEmpty
        guard isBegun || next.isAtBeginning || found.counts.rows == 0 else {
            throw Fault(
                sentence: "the import was begun without a report, and one of its other rows alone would be none"
            )
        }
        let isThere = FileStatus(path) != nil
        guard isThere || next.isAtBeginning || found.reportBytes == 0 else {
            throw Fault(sentence: "\(path) is not there, and the report of this import was begun before")
        }
        let isOurs: Bool
        do throws(FileFault) {
            file = try OpenFile(path, to: isThere ? .update : .make)
            isOurs = try Self.isReport(file, of: found, orNoneYet: next.isAtBeginning)
        } catch {
            throw Fault(sentence: error.description)
        }
        guard isOurs else {
            throw Fault(sentence: "\(path) is there already, and is not what this import left; nothing is overwritten")
        }
        try write(next)
    }

    /// Whether the file is what an import left that came so far.
    private static func isReport(
        _ file: OpenFile,
        of found: ImportProgress,
        orNoneYet mayBeEmpty: Bool
    ) throws(FileFault) -> Bool {
        let (size, tail) = (try file.size(), found.reportTail)
        // What a run leaves that was cut off before its first commit.
        if size == 0, mayBeEmpty { return true }
        // Shorter where the last lines were not all written; longer where the ledger is an older copy of itself.
        let end = found.isDone || tail.isEmpty ? found.reportBytes + Int64(tail.count) : .max
        guard size >= found.reportBytes, size <= end else { return false }
        return tail.starts(with: try file.read(at: found.reportBytes, upTo: tail.count))
    }

    /// Writes the lines of the rows that were taken last; the file ends with them.
    func write(_ progress: ImportProgress) throws(Fault) {
        do throws(FileFault) {
            try file.truncate(to: progress.reportBytes)
            try file.write(progress.reportTail)
        } catch {
            throw Fault(sentence: error.description)
        }
    }

    /// To the disk.
    func close() throws(Fault) {
        do throws(FileFault) {
            try file.synchronize()
            try file.close()
        } catch {
            throw Fault(sentence: error.description)
        }
    }
}
