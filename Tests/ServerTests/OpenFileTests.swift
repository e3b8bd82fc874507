import Foundation
import PurchaseModel
import Storage
import Synchronization
import Testing

@testable import Server

/// The system's calls for files, as the commands use them.
@Suite struct OpenFileTests {
    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-files-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test func aFileIsReadOnAndAtPlaces() throws {
        try Self.withFolder { folder in
            // More than is asked for at once.
            let bytes = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
            try Data(bytes).write(to: URL(filePath: folder + "/a"))
            let file = try OpenFile(folder + "/a", to: .read)
            #expect(try file.size() == 2_500_000)
            #expect(try file.read(upTo: 3) == [0, 1, 2])
            #expect(try file.read(at: 2_499_998, upTo: 100) == Array(bytes.suffix(2)))
            #expect(try file.read(at: 2_500_000, upTo: 100).isEmpty)
            // To read at a place is no step on the way.
            #expect(try file.read(upTo: 2_000_000) == Array(bytes[3..<2_000_003]))
            #expect(try file.read() == Array(bytes[2_000_003...]))
            #expect(try file.read().isEmpty)
            #expect(throws: FileFault(path: folder + "/a", errno: EBADF)) { try file.write([1]) }
            try file.close()
            try file.close()
        }
    }

    @Test func aFileIsCutAndWrittenOn() throws {
        try Self.withFolder { folder in
            try Data("abcdef".utf8).write(to: URL(filePath: folder + "/a"))
            let file = try OpenFile(folder + "/a", to: .update)
            try file.truncate(to: 2)
            try file.write(Array("xyz".utf8))
            try file.write([])
            try file.truncate(to: 4)
            try file.write(Array("!".utf8))
            try file.synchronize()
            try file.close()
            #expect(FileManager.default.contents(atPath: folder + "/a") == Data("abxy!".utf8))
        }
    }

    @Test func whatCannotBeOpenedOrWrittenSaysWhy() throws {
        try Self.withFolder { folder in
            let none = folder + "/none"
            #expect(throws: FileFault(path: none, errno: ENOENT)) { try OpenFile(none, to: .read) }
            #expect(throws: FileFault(path: none, errno: ENOENT)) { try OpenFile(none, to: .update) }
            #expect(throws: FileFault(path: folder, errno: EISDIR)) { try OpenFile(folder, to: .update) }
            #expect(throws: FileFault(path: folder, errno: EISDIR)) { try OpenFile(folder, to: .read).read(upTo: 1) }
            // It would be the folder itself.
            #expect(throws: FileFault(path: folder + "\0/none", errno: EINVAL)) {
                try OpenFile(folder + "\0/none", to: .read)
            }
            #expect(throws: FileFault(path: "/dev/full", errno: ENOSPC)) {
                try OpenFile("/dev/full", to: .update).write([1])
            }
            #expect(FileFault(path: "a", errno: ENOSPC).description == "a: No space left on device (errno 28)")
        }
    }

    @Test func whatIsMadeIsItsOwnersAndNew() throws {
        try Self.withFolder { folder in
            let (file, inner) = (folder + "/a", folder + "/b")
            try OpenFile(file, to: .make).write([1])
            try PrivateFolder.make(inner)
            #expect(FileStatus(file)?.mode == 0o600 && FileStatus(inner)?.mode == 0o700)
            #expect(throws: FileFault(path: file, errno: EEXIST)) { try OpenFile(file, to: .make) }
            #expect(throws: FileFault(path: inner, errno: EEXIST)) { try PrivateFolder.make(inner) }
            #expect(throws: FileFault(path: "/proc/a", errno: ENOENT)) { try PrivateFolder.make("/proc/a") }
            // Not what a link leads to either.
            let link = folder + "/link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder + "/none")
            #expect(throws: FileFault(path: link, errno: EEXIST)) { try OpenFile(link, to: .make) }
        }
    }

    /// A signal whose handler does not ask for calls to be begun again.
    @Test func aReadThatASignalCutsOffIsMadeAgain() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "assay-pipe-\(UUID().uuidString)").path
        let made = unsafe mkfifo(path, 0o600)
        try #require(made == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let pipe = try OpenFile(path, to: .update)
        var (action, before) = (sigaction(), sigaction())
        unsafe action.__sigaction_handler.sa_handler = { _ in }
        unsafe sigaction(SIGUSR2, &action, &before)
        let reader = Mutex<pthread_t?>(nil)
        let read = Mutex<Result<[UInt8], any Error>?>(nil)
        let thread = Thread {
            reader.withLock { $0 = pthread_self() }
            let result = Result { try pipe.read(upTo: 1) }
            read.withLock { $0 = result }
        }
        thread.start()
        for _ in 0..<40 {
            try await Task.sleep(for: .milliseconds(5))
            if let reader = reader.withLock({ $0 }) { pthread_kill(reader, SIGUSR2) }
        }
        #expect(read.withLock { $0 == nil })
        try pipe.write([7])
        while !thread.isFinished { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try read.withLock { try $0?.get() } == [7])
        unsafe sigaction(SIGUSR2, &before, nil)
    }

    /// As where another program has set the terminal or pipe that all share not to block.
    @Test func aPipeThatDoesNotBlockIsWaitedFor() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "assay-pipe-\(UUID().uuidString)").path
        let made = unsafe mkfifo(path, 0o600)
        try #require(made == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Opened to read and to write, neither end waits for the other.
        let (input, output) = (try OpenFile(path, to: .update), try OpenFile(path, to: .update))
        for file in [input, output] { try #require(fcntl(file.descriptor, F_SETFL, O_NONBLOCK) == 0) }
        // Many times what a pipe holds.
        let bytes = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 % 253) }
        let reader = Task.detached { try input.read(upTo: bytes.count) }
        try await Task.detached { try output.write(bytes) }.value
        #expect(try await reader.value == bytes)
    }

    @Test func aFileThatNobodyHoldsIsClosed() throws {
        try Self.withFolder { folder in
            let path = folder + "/a"
            try Data().write(to: URL(filePath: path))
            func holder(_ descriptor: Int32) -> String? {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
            }
            let descriptor: Int32
            do {
                let file = try OpenFile(path, to: .read)
                descriptor = file.descriptor
                #expect(try holder(descriptor).map { URL(filePath: $0).lastPathComponent } == "a" && file.size() == 0)
            }
            #expect(holder(descriptor).map { URL(filePath: $0).lastPathComponent } != "a")
        }
    }

    @Test func theSystemTellsOfAFileAndOfWhatALinkLeadsTo() throws {
        try Self.withFolder { folder in
            let file = folder + "/a"
            try Data("abc".utf8).write(to: URL(filePath: file))
            let then = Date(timeIntervalSince1970: 1_700_000_000.25)
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o640, .modificationDate: then]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: file)
            try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: file)
            for path in [file, folder + "/link"] {
                let status = try #require(FileStatus(path))
                #expect(status.mode == 0o640 && status.size == 3 && !status.isFolder)
                #expect(status.changed.milliseconds == 1_700_000_000_250)
            }
            // The file system of the memory keeps any moment.
            let far = "/dev/shm/assay-\(UUID().uuidString)"
            try Data().write(to: URL(filePath: far))
            defer { try? FileManager.default.removeItem(atPath: far) }
            var times = [timespec](repeating: timespec(tv_sec: .max / 1_000 + 1, tv_nsec: 0), count: 2)
            let isSet = unsafe utimensat(AT_FDCWD, far, &times, 0)
            if isSet == 0 { #expect(try #require(FileStatus(far)).changed.milliseconds > 1 << 40) }
            #expect(FileStatus(folder)?.isFolder == true)
            #expect(FileStatus(folder + "/none") == nil)
            #expect(FileStatus(folder + "\0x") == nil)
            #expect(try #require(DiskRoom.free(at: folder)) > 0)
            #expect(DiskRoom.free(at: folder + "/none") == nil)
        }
    }
}
