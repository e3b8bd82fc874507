import Foundation
import Testing

@testable import Server

/// What is not whole has no name, and what has a name keeps it.
@Suite struct UnfinishedFileTests {
    private static func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test func aFileGetsItsNameWhenItIsWhole() async throws {
        try await TemporaryFolder.with { folder in
            let file = UnfinishedFile(folder + "/copy")
            try file.make()
            #expect(try Self.names(folder) == ["copy.part"])
            try Data([1, 2]).write(to: URL(filePath: file.partPath))
            try file.finish()
            #expect(FileManager.default.contents(atPath: folder + "/copy") == Data([1, 2]))
            // What is whole is no longer discarded.
            #expect(!file.discard())
            #expect(try Self.names(folder) == ["copy"])
        }
    }

    @Test func whatComesToNothingIsDiscardedOnce() async throws {
        try await TemporaryFolder.with { folder in
            let file = UnfinishedFile(folder + "/copy")
            #expect(!file.discard())
            try file.make()
            let attributes = try FileManager.default.attributesOfItem(atPath: file.partPath)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(file.discard())
            #expect(try Self.names(folder) == [])
            // By now it may be somebody else's.
            try Data().write(to: URL(filePath: file.partPath))
            #expect(!file.discard())
            #expect(try Self.names(folder) == ["copy.part"])
        }
    }

    @Test func nothingIsOverwritten() async throws {
        try await TemporaryFolder.with { folder in
            let (copy, other) = (folder + "/copy", folder + "/other")
            try Data([7]).write(to: URL(filePath: copy))
            try Data([8]).write(to: URL(filePath: other + ".part"))
            #expect(throws: UnfinishedFile.Fault.isThere(copy)) { try UnfinishedFile(copy).make() }
            let begun = UnfinishedFile(other)
            #expect(throws: UnfinishedFile.Fault.isBegun(other + ".part")) { try begun.make() }
            #expect(!begun.discard())
            let none = folder + "/none/copy"
            for (path, fault) in [
                (none, FileFault(path: none + ".part", errno: ENOENT)), ("", FileFault(path: "", errno: EINVAL)),
            ] {
                #expect(throws: UnfinishedFile.Fault.system(fault)) { try UnfinishedFile(path).make() }
            }
            // Somebody else takes the name while it is made.
            let taken = UnfinishedFile(folder + "/taken")
            try taken.make()
            try Data([9]).write(to: URL(filePath: taken.path))
            #expect(throws: UnfinishedFile.Fault.isThere(taken.path)) { try taken.finish() }
            #expect(taken.discard())
            #expect(try Self.names(folder) == ["copy", "other.part", "taken"])
            #expect(FileManager.default.contents(atPath: taken.path) == Data([9]))
        }
    }
}
