import Foundation
import Testing

@testable import Server

/// The systemd units, by systemd's own tool.
@Suite struct UnitTests {
    private static let analyze = "/usr/bin/systemd-analyze"
    private static let hasAnalyze = FileManager.default.isExecutableFile(atPath: analyze)
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../Packaging/systemd"
    ).standardized.path

    /// Ten is a unit that may do anything; systemd calls what is below two OK.
    @Test(.enabled(if: hasAnalyze, "systemd-analyze is not installed"), arguments: ["assay", "assay-backup"])
    func littleIsExposed(unit: String) async throws {
        let words = ["security", "--offline=true", "--no-pager", "--threshold=15", "\(Self.folder)/\(unit).service"]
        let run = try await Program.run(words, instead: Self.analyze)
        #expect(run.code == 0, "\(run.text.suffix(200))")
        let open = try await Program.run(
            ["security", "--offline=true", "--no-pager", "--threshold=1"] + words.suffix(1),
            instead: Self.analyze
        )
        #expect(open.code != 0, "the tool sees the threshold")
    }

    @Test func theServerMayOpenWhatItsLimitsNeed() throws {
        let text = String(decoding: try Data(contentsOf: URL(filePath: Self.folder + "/assay.service")), as: UTF8.self)
        let limit = text.firstMatch(of: /LimitNOFILE=(\d+)/).flatMap { Int($0.1) }
        #expect(CheckServer.files(limit, Configuration.Limits().connections).status == .ok)
        let stop = text.firstMatch(of: /TimeoutStopSec=(\d+)/).flatMap { Int($0.1) } ?? 0
        #expect(stop > Configuration.Limits().drainSeconds + 15)
    }

    /// The unit's own commands, in another folder. The newest three copies stay, however old they are.
    @Test func whatCopiesLeaveIsRemovedInTime() async throws {
        let unit = try Data(contentsOf: URL(filePath: Self.folder + "/assay-backup.service"))
        let files: [(name: String, days: Double, isKept: Bool)] = [
            ("2026-01-17T031700Z.sqlite", 11, true), ("2026-01-16T031700Z.sqlite", 12, true),
            ("2026-01-15T031700Z.sqlite", 16, true), ("2026-01-15T031700Z.sqlite.sha256", 16, true),
            ("2026-01-14T031700Z.sqlite", 13, true), ("2026-01-14T031700Z.sqlite.sha256", 13, true),
            ("2026-01-12T031700Z.sqlite", 16, false), ("2026-01-12T031700Z.sqlite.sha256", 16, false),
            // What somebody copied before an upgrade.
            ("before.sqlite", 90, true), ("before.sqlite.sha256", 90, true),
            ("2026-01-12-before.sqlite", 90, true), ("now.sqlite.part", 0, true), ("cut.sqlite.part", 2, false),
            ("now.sqlite.verify-1", 0, true), ("cut.sqlite.verify-2", 2, false), ("notes", 90, true),
        ]
        try await TemporaryFolder.with { folder in
            var commands = 0
            for file in files {
                let path = "\(folder)/\(file.name)"
                if file.name.contains("verify") {
                    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                    try Data([1]).write(to: URL(filePath: path + "/assay.sqlite"))
                } else {
                    try Data([1]).write(to: URL(filePath: path))
                }
                let changed = Date(timeIntervalSinceNow: -86_400 * file.days)
                try FileManager.default.setAttributes([.modificationDate: changed], ofItemAtPath: path)
            }
            for line in String(decoding: unit, as: UTF8.self).split(separator: "\n") {
                guard let found = line.firstMatch(of: /^ExecStartPre=-(.*)$/) else { continue }
                let command = found.1.replacing("/var/backups/assay", with: folder)
                var words = command.split(separator: " ").map(String.init)
                if let shell = command.firstMatch(of: /^\/bin\/sh -c '(.*)'$/) {
                    words = ["/bin/sh", "-c", String(shell.1).replacing("$$", with: "$")]
                }
                let run = try await Program.run(Array(words.dropFirst()), instead: words[0])
                #expect(run.code == 0, "\(run.errorText)")
                commands += 1
            }
            #expect(commands == 3)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            #expect(left == files.filter(\.isKept).map(\.name).sorted())
        }
    }
}
