import Foundation
import PurchaseModel
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
            #expect(throws: OpenFile.Fault(errno: EBADF)) { try file.write([1]) }
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
            #expect(throws: OpenFile.Fault(errno: ENOENT)) { try OpenFile(folder + "/none", to: .read) }
            #expect(throws: OpenFile.Fault(errno: ENOENT)) { try OpenFile(folder + "/none", to: .update) }
            #expect(throws: OpenFile.Fault(errno: EISDIR)) { try OpenFile(folder, to: .update) }
            // It would be the folder itself.
            #expect(throws: OpenFile.Fault(errno: EINVAL)) { try OpenFile(folder + "\0/none", to: .read) }
            #expect(throws: OpenFile.Fault(errno: EISDIR)) { try OpenFile(folder, to: .read).read(upTo: 1) }
            #expect(throws: OpenFile.Fault(errno: ENOSPC)) { try OpenFile("/dev/full", to: .update).write([1]) }
        }
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
            #expect(holder(descriptor) != path)
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
            #expect(FileStatus(folder)?.isFolder == true)
            #expect(FileStatus(folder + "/none") == nil)
            #expect(FileStatus(folder + "\0x") == nil)
            #expect(try #require(FileStatus.free(at: folder)) > 0)
            #expect(FileStatus.free(at: folder + "/none") == nil)
        }
    }
}
