import Foundation
import Testing

@testable import Server

@Suite struct SettingsFilesTests {
    @Test func theDiskTellsWhoMayReadAFile() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-settings-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/key"
        for (mode, isWorldReadable) in [(0o600, false), (0o640, false), (0o644, true), (0o604, true)] {
            try? FileManager.default.removeItem(atPath: file)
            #expect(FileManager.default.createFile(atPath: file, contents: Data("secret\n".utf8)))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
            let read = try SettingsFiles.disk.read(file)
            #expect(read == SettingsFiles.File(bytes: Array("secret\n".utf8), isWorldReadable: isWorldReadable))
        }
        // Who may read is asked of the file itself, not of the link that leads to it.
        let link = folder + "/link"
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        #expect(try SettingsFiles.disk.read(link).isWorldReadable == false)
        #expect(SettingsFiles.disk.isFolder(folder) && !SettingsFiles.disk.isFolder(file))
        #expect(!SettingsFiles.disk.isFolder(folder + "/none"))
        #expect(throws: SettingsFiles.Fault.missing) { try SettingsFiles.disk.read(folder + "/none") }
        #expect(throws: SettingsFiles.Fault.unreadable) { try SettingsFiles.disk.read(folder) }
    }

    @Test func whatIsTooLongIsNotRead() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-settings-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/long"
        try Data(count: 4 << 20).write(to: URL(filePath: file))
        #expect(try SettingsFiles.disk.read(file).bytes.count == 4 << 20)
        try Data(count: (4 << 20) + 1).write(to: URL(filePath: file))
        #expect(throws: SettingsFiles.Fault.tooLong) { try SettingsFiles.disk.read(file) }
        // It has no size, and no end.
        #expect(throws: SettingsFiles.Fault.tooLong) { try SettingsFiles.disk.read("/dev/zero") }
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: folder + "/none")
        #expect(throws: SettingsFiles.Fault.missing) { try SettingsFiles.disk.read(folder + "/link") }
    }

    /// As a shell's `<(…)`, and secrets that a manager hands over.
    @Test func aPipeIsReadToItsEnd() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "assay-pipe-\(UUID().uuidString)").path
        let made = unsafe mkfifo(path, 0o600)
        try #require(made == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let secret = Array(String(repeating: "secret", count: 20_000).utf8)
        let reader = Task.detached { try SettingsFiles.disk.read(path) }
        let writer = Task.detached {
            let descriptor = unsafe open(path, O_WRONLY)
            defer { close(descriptor) }
            var written = 0
            while written < secret.count {
                let count = unsafe write(descriptor, Array(secret[written...]), secret.count - written)
                guard count > 0 else { break }
                written += count
            }
        }
        #expect(try await reader.value == SettingsFiles.File(bytes: secret, isWorldReadable: false))
        await writer.value
    }
}
