import Encoding
import Foundation
import Storage
import TestSupport
import Testing

/// A server whose ledger lies on a disk of its own, which is filled up and emptied again beside it.
@Suite(.enabled(if: Program.isBuilt && OwnDisk.canBeMounted, "no file system may be mounted here"))
struct FullDiskTests {
    @Test func aFullDiskIsToldUntilThereIsRoomAgain() async throws {
        try await ServerFolder.with { folder in
            try FileManager.default.createDirectory(atPath: folder.data, withIntermediateDirectories: false)
            let server = try await folder.serve(under: OwnDisk.wrapper(folder.data))
            #expect(await server.post(Purchase.body(try Purchase.jws(1)))?.result == "recorded")
            #expect(await server.get("/readyz", key: nil)?.status == 200)

            let filler = server.path(of: folder.data + "/filler")
            try Self.fill(filler)
            // Nobody has tried to record anything: it is found out all the same.
            let full = try #require(await Self.answer(of: server, is: 503))
            #expect(full.code == "storage_full" && full.fields["retry-after"] != nil, "\(full.text)")
            let refused = try #require(await server.post(Purchase.body(try Purchase.jws(2))))
            #expect(refused.status == 503 && refused.code == "storage_full", "\(refused.text)")
            #expect(refused.fields["retry-after"] != nil)
            #expect(await server.get("/readyz", key: nil)?.code == "storage_full")
            #expect(await server.get("/livez", key: nil)?.status == 200)
            let metrics = Exposition(await server.get("/metrics", key: nil)?.text ?? "").values
            #expect(metrics["assay_storage_full"] == 1)
            #expect(metrics["assay_ledger_free_bytes"].map { $0 < 1_048_576 } == true)

            try FileManager.default.removeItem(atPath: filler)
            #expect(await Self.answer(of: server, is: 200) != nil)
            #expect(await server.post(Purchase.body(try Purchase.jws(2)))?.result == "recorded")
            let after = Exposition(await server.get("/metrics", key: nil)?.text ?? "").values
            #expect(after["assay_storage_full"] == 0)
            let files = try FileManager.default.contentsOfDirectory(atPath: server.path(of: folder.data))
            #expect(files.sorted() == ["assay.lock", "assay.sqlite", "assay.sqlite-shm", "assay.sqlite-wal"])
            server.stop()
            #expect(await server.exitCode() == 0)
            for event in ["storage_full", "storage_has_room"] {
                let lines = server.errors.lines.count { $0.contains("\"event\":\"\(event)\"") }
                #expect(lines == 1, "\(event)")
            }
        }
    }

    @Test func aFullDiskOfTheCopyIsNotTheLedgers() async throws {
        try await TemporaryFolder.with { folder in
            #expect(try await Program.run(["migrate", "--data", folder + "/data"]).code == 0)
            let disk = folder + "/disk"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
            let wrapper = OwnDisk.wrapper(disk, size: "128k")
            let words = [Program.path, "backup", "--data", folder + "/data", "--to", disk + "/copy"]
            let run = try await Program.run(Array(wrapper.dropFirst()) + words, instead: wrapper[0])
            #expect(run.code == 2)
            #expect(run.errorText == "assay backup: no space is left for \(disk)/copy.part\n")
        }
    }

    /// Asks until the answer is this one; the server looks every five seconds.
    private static func answer(of server: ServerProcess, is status: Int) async -> WireClient.Answer? {
        for _ in 0..<300 {
            if let answer = await server.get("/readyz", key: nil), answer.status == status { return answer }
            try? await Task.sleep(for: .milliseconds(100))
        }
        return nil
    }

    /// Writes to a file until there is no room for one byte more.
    private static func fill(_ path: String) throws {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: path))
        defer { try? file.close() }
        for size in [1 << 20, 1 << 12, 1] {
            let part = Data(repeating: 0x5A, count: size)
            while (try? file.write(contentsOf: part)) != nil {}
        }
    }
}

/// A small disk that lies in memory, in a namespace of its own: it ends with the server, and nobody else sees it.
private enum OwnDisk {
    static let canBeMounted = (try? ChildProcess(wrapper("/mnt") + ["/bin/true"]).start().waitUntilExit()) == 0

    static func wrapper(_ folder: String, size: String = "24m") -> [String] {
        let mount = #"mount -t tmpfs -o size=\#(size) tmpfs "$0" && exec "$@""#
        return ["/usr/bin/unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c", mount, folder]
    }
}
