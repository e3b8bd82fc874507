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
}
