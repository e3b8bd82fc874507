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

    /// Opens the file where the progress says, and makes it what the progress says.
    init(_ path: String, after progress: ImportProgress) throws(Fault) {
        self.path = path
        report = path.hasSuffix(".csv") ? .csv : .jsonLines
        let found = FileStatus(path)
        let isThere = found != nil
        // An empty one is what an import leaves that was cut off before its first commit.
        if progress.version == 0, let found, found.size > 0 || found.isFolder {
            throw Fault(sentence: "\(path) is there already; nothing is overwritten")
        }
        guard isThere || progress.reportBytes == 0 else { throw Fault(sentence: "\(path) was begun elsewhere") }
        let file: OpenFile
        let size: Int64
        do throws(FileFault) {
            file = try OpenFile(path, to: isThere ? .update : .make)
            size = try file.size()
        } catch {
            throw Fault(sentence: error.description)
        }
        guard size >= progress.reportBytes else {
            throw Fault(sentence: "\(path) is shorter than what was written to it: it is another report")
        }
        self.file = file
        try write(progress)
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
