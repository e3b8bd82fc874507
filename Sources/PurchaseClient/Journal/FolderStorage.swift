package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A folder with the journal in it, open for one process at a time.
package final class FolderStorage: JournalStorage {
    // The calls marked unsafe take a path or a buffer, which Swift keeps alive until they return.
    private let folder: String
    private let lock: Descriptor
    private var file: Descriptor?
    /// The second file, once it is written and until it is the first.
    private var second: Descriptor?

    private var path: String { folder + "/outbox.jsonl" }
    private var secondPath: String { folder + "/outbox.new" }

    /// Makes the folder if it is not there, and locks it.
    package init(_ folder: URL) throws(OutboxFault) {
        self.folder = folder.path
        guard !self.folder.utf8.contains(0) else { throw .system(EINVAL) }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw Self.fault(error)
        }
        try Self.allowBeforeUnlocking(folder)
        lock = try Descriptor(self.folder + "/outbox.lock", O_RDWR | O_CREAT)
        // The lock ends with the process, however it ends.
        guard flock(lock.number, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? .inUse : OutboxFault(errno: errno)
        }
        try Self.synchronize(folder: folder.deletingLastPathComponent().path)
    }

    package func read() throws(OutboxFault) -> [UInt8] {
        do throws(OutboxFault) {
            file = try Descriptor(path, O_RDWR | O_APPEND)
        } catch .system(ENOENT) {
            return []
        }
        return try file?.read() ?? []
    }

    package func append(_ bytes: [UInt8]) throws(OutboxFault) {
        guard let file else { throw .system(ENOENT) }
        try file.write(bytes)
    }

    package func synchronize() throws(OutboxFault) { try file?.synchronize() }

    package func writeSecond(_ bytes: [UInt8]) throws(OutboxFault) {
        let made = try Descriptor(secondPath, O_RDWR | O_APPEND | O_CREAT | O_TRUNC)
        do throws(OutboxFault) {
            try made.write(bytes)
            try made.synchronize()
        } catch {
            // On a full disk its beginning would take the room that one more line needs.
            _ = ftruncate(made.number, 0)
            throw error
        }
        second = made
    }

    package func replaceBySecond() throws(OutboxFault) {
        guard let second else { throw .system(ENOENT) }
        guard unsafe rename(secondPath, path) == 0 else { throw OutboxFault(errno: errno) }
        file = second
        self.second = nil
    }

    package func synchronizeFolder() throws(OutboxFault) { try Self.synchronize(folder: folder) }

    private static func synchronize(folder: String) throws(OutboxFault) {
        try Descriptor(folder, O_RDONLY).synchronize()
    }

    /// A device that was just started launches apps before anybody has unlocked it; an outbox that could not be read then
    /// would look as if it were not there. Files take the protection of the folder in which they are made.
    private static func allowBeforeUnlocking(_ folder: URL) throws(OutboxFault) {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        do {
            let attributes = [FileAttributeKey.protectionKey: FileProtectionType.none]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: folder.path)
        } catch {
            throw fault(error)
        }
        #endif
    }

    private static func fault(_ error: any Error) -> OutboxFault {
        let error = error as NSError
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        for case let known? in [underlying, error] where known.domain == NSPOSIXErrorDomain {
            return OutboxFault(errno: Int32(truncatingIfNeeded: known.code))
        }
        switch CocoaError.Code(rawValue: error.code) {
        case .fileWriteOutOfSpace: return .diskFull
        case .fileWriteNoPermission, .fileReadNoPermission: return .notPermitted
        default: return .system(EIO)
        }
    }
}

/// A file that is open until nobody holds this any more. Programs that the app starts do not get it.
private final class Descriptor {
    // The calls marked unsafe take a path or a buffer, which Swift keeps alive until they return.
    private static let partBytes = 1 << 16

    let number: Int32

    init(_ path: String, _ flags: Int32) throws(OutboxFault) {
        number = Self.unbroken { unsafe open(path, flags | O_CLOEXEC, 0o600) }
        guard number >= 0 else { throw OutboxFault(errno: errno) }
    }

    deinit { _ = close(number) }

    func read() throws(OutboxFault) -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: Self.partBytes)
        while true {
            let count = unsafe part.withUnsafeMutableBytes { buffer in
                Self.unbroken { unsafe Int(systemRead(number, buffer.baseAddress, buffer.count)) }
            }
            guard count >= 0 else { throw OutboxFault(errno: errno) }
            if count == 0 { return bytes }
            bytes += part[..<count]
        }
    }

    func write(_ bytes: [UInt8]) throws(OutboxFault) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                Self.unbroken {
                    unsafe Int(systemWrite(number, buffer.baseAddress?.advanced(by: written), bytes.count - written))
                }
            }
            guard count > 0 else { throw OutboxFault(errno: count == 0 ? EIO : errno) }
            written += count
        }
    }

    func synchronize() throws(OutboxFault) {
        #if canImport(Darwin)
        // There fsync leaves it in the drive's memory. Not every file system knows the stronger one.
        if Self.unbroken({ fcntl(number, F_FULLFSYNC) }) == 0 { return }
        #endif
        guard Self.unbroken({ fsync(number) }) == 0 else { throw OutboxFault(errno: errno) }
    }

    /// A call that a signal cuts off is made again.
    private static func unbroken<Code: SignedInteger>(_ call: () -> Code) -> Code {
        while true {
            let code = call()
            if code != -1 || errno != EINTR { return code }
        }
    }
}

// Inside a type that has a `read` and a `write` of its own, the system's need another name.
private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(file, buffer, count)
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(file, buffer, count)
}

extension OutboxFault {
    fileprivate init(errno: Int32) {
        self =
            switch errno {
            case ENOSPC, EDQUOT: .diskFull
            case EACCES, EPERM, EROFS: .notPermitted
            default: .system(errno)
            }
    }
}
