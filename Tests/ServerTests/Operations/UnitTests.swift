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
        #expect(stop > Configuration.Limits().drainSeconds + 5)
    }
}
