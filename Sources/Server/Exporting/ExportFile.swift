/// Where the rows of an export go: a file that is not whole yet, or standard output.
final class ExportFile: Sendable {
    enum Fault: Error {
        case file(FileFault)
        case unwritable(String)

        var sentence: String {
            switch self {
            case .file(let fault): fault.description
            case .unwritable(let path): "\(path) cannot be written"
            }
        }
    }

    /// `nil` for standard output.
    private let file: OpenFile?

    /// Of an empty file's path; `nil` for standard output.
    init(_ path: String?) throws(Fault) {
        do throws(FileFault) {
            file = try path.map { path throws(FileFault) in try OpenFile(path, to: .update) }
        } catch {
            throw .file(error)
        }
    }

    func write(_ bytes: [UInt8]) -> Bool {
        guard let file else { return Console.write(bytes) }
        return (try? file.write(bytes)) != nil
    }

    /// To the disk.
    func close() throws(Fault) {
        do throws(FileFault) {
            try file?.synchronize()
            try file?.close()
        } catch {
            throw .file(error)
        }
    }
}
