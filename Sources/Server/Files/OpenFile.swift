import Glibc
import Synchronization

/// A file, pipe or terminal that is open, by the system's own calls: the little that is wanted here of Foundation's
/// `FileHandle`, which would bring all of Foundation into the program.
///
/// A call that a signal cuts off is made again, and a pipe that somebody has set not to block is waited for.
final class OpenFile: Sendable {
    // The calls marked unsafe take a path or a buffer, which Swift keeps alive until they return.
    enum Purpose {
        case read
        /// Reads and writes what is there already.
        case update
        /// Makes it for its owner alone; it must not be there.
        case make

        fileprivate var flags: Int32 {
            switch self {
            case .read: O_RDONLY
            case .update: O_RDWR
            case .make: O_RDWR | O_CREAT | O_EXCL
            }
        }
    }

    static let standardInput = OpenFile(standard: STDIN_FILENO, "standard input")
    static let standardOutput = OpenFile(standard: STDOUT_FILENO, "standard output")
    static let standardError = OpenFile(standard: STDERR_FILENO, "standard error")

    /// Asked for at once.
    private static let partBytes = 1 << 20

    let path: String
    let descriptor: Int32
    private let isOpen: Atomic<Bool>

    /// Opens a file. Programs that this one starts do not get it.
    init(_ path: String, to purpose: Purpose) throws(FileFault) {
        // With a NUL in it, another file would be opened.
        guard !path.utf8.contains(0) else { throw FileFault(path: path, errno: EINVAL) }
        self.path = path
        descriptor = Self.unbroken { unsafe open(path, purpose.flags | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { throw FileFault(path: path, errno: errno) }
        isOpen = Atomic(true)
    }

    private init(standard descriptor: Int32, _ name: String) {
        path = name
        self.descriptor = descriptor
        isOpen = Atomic(false)
    }

    deinit { try? close() }

    /// What a command line names to be read: standard input by `-`, a file by its path.
    static func named(_ word: String) throws(FileFault) -> OpenFile {
        word == "-" ? standardInput : try OpenFile(word, to: .read)
    }

    // MARK: Reading

    /// What follows, to the end.
    func read() throws(FileFault) -> [UInt8] { try read(upTo: .max) }

    /// What follows: so many bytes, or fewer at the end.
    func read(upTo count: Int) throws(FileFault) -> [UInt8] { try read(from: nil, upTo: count) }

    /// What stands there: so many bytes, or fewer at the end. It may be asked by many at once.
    func read(at place: Int64, upTo count: Int) throws(FileFault) -> [UInt8] { try read(from: place, upTo: count) }

    private func read(from place: Int64?, upTo count: Int) throws(FileFault) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let next = place.map { $0 + Int64(bytes.count) }
            let part = try part(from: next, upTo: min(count - bytes.count, OpenFile.partBytes))
            if part.isEmpty { break }
            if bytes.isEmpty { bytes = part } else { bytes += part }
        }
        return bytes
    }

    private func part(from place: Int64?, upTo count: Int) throws(FileFault) -> [UInt8] {
        var fault: FileFault?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(FileFault) {
                filled = try completed(Int16(POLLIN)) {
                    guard let place else { return unsafe Glibc.read(descriptor, buffer.baseAddress, count) }
                    return unsafe pread(descriptor, buffer.baseAddress, count, off_t(place))
                }
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        return bytes
    }

    // MARK: Writing

    /// All of it.
    func write(_ bytes: [UInt8]) throws(FileFault) {
        var written = 0
        while written < bytes.count {
            written += try completed(Int16(POLLOUT)) {
                unsafe bytes.withUnsafeBytes { buffer in
                    unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), bytes.count - written)
                }
            }
        }
    }

    /// In bytes.
    func size() throws(FileFault) -> Int64 {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw fault() }
        return Int64(status.st_size)
    }

    /// Makes it end there, and goes on writing there.
    func truncate(to size: Int64) throws(FileFault) {
        guard Self.unbroken({ ftruncate(descriptor, off_t(size)) }) == 0 else { throw fault() }
        guard lseek(descriptor, off_t(size), SEEK_SET) == size else { throw fault() }
    }

    /// To the disk.
    func synchronize() throws(FileFault) {
        guard Self.unbroken({ fsync(descriptor) }) == 0 else { throw fault() }
    }

    /// Once; what is written without a complaint may still be refused here.
    func close() throws(FileFault) {
        guard isOpen.exchange(false, ordering: .relaxed) else { return }
        // Cut off by a signal, it is closed all the same.
        guard Glibc.close(descriptor) == 0 || errno == EINTR else { throw fault() }
    }

    // MARK: The system's ways

    private func fault() -> FileFault { FileFault(path: path, errno: errno) }

    /// How many bytes the call says it took, once it says so.
    private func completed(_ readiness: Int16, _ call: () -> Int) throws(FileFault) -> Int {
        while true {
            let count = call()
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var waited = pollfd(fd: descriptor, events: readiness, revents: 0)
                _ = unsafe poll(&waited, 1, -1)
            default: throw fault()
            }
        }
    }

    private static func unbroken(_ call: () -> Int32) -> Int32 {
        while true {
            let code = call()
            if code != -1 || errno != EINTR { return code }
        }
    }
}
