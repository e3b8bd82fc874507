import Foundation
import TestSupport
import Testing

/// Where customers buy, nothing that is for tests may be on.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct ProfileTests {
    @Test func productionTrustsNoSimulator() async throws {
        try await TemporaryFolder.with { folder in
            try ServerFolder.makeRoots(in: folder + "/roots")
            try Self.configure(folder)
            let run = try await Program.run(["serve", "--config", "assay.json"], in: folder)
            #expect(run.code == 2)
            #expect(
                run.errorLines == [
                    "assay: the configuration cannot be used:",
                    "assay: assay.json: trust.roots: roots/0.der is a simulator's root, which profile production does not trust",
                    "assay: assay.json: trust.roots: roots/1.der is a simulator's root, which profile production does not trust",
                ]
            )
            let check = try await Program.run(["config", "check", "--config", "assay.json"], in: folder)
            #expect(check.code == 2 && check.errorText == run.errorText)
        }
    }

    @Test func productionAcceptsNoTestPurchases() async throws {
        try await TemporaryFolder.with { folder in
            try FileManager.default.createDirectory(atPath: folder + "/roots", withIntermediateDirectories: false)
            try Self.configure(folder, app: #", "accept_test_signed": true"#)
            let run = try await Program.run(["serve", "--config", "assay.json"], in: folder)
            #expect(run.code == 2)
            #expect(run.errorText.contains("assay.json: apps[0].accept_test_signed: must be false where profile is"))
        }
    }

    @Test func developmentMayHaveBoth() async throws {
        try await TemporaryFolder.with { folder in
            try ServerFolder.makeRoots(in: folder + "/roots")
            try Self.configure(folder, app: #", "accept_test_signed": true"#)
            let words = ["config", "check", "--config", "assay.json", "--profile"]
            #expect(try await Program.run(words + ["development"], in: folder).code == 0)
            #expect(try await Program.run(words + ["production"], in: folder).code == 2)
        }
    }

    @Test func rootsOfOthersMayBeAdded() async throws {
        try await TemporaryFolder.with { folder in
            let apple = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/Verification/Chain/Roots").path
            try FileManager.default.copyItem(atPath: apple, toPath: folder + "/roots")
            try Self.configure(folder)
            #expect(try await Program.run(["config", "check", "--config", "assay.json"], in: folder).code == 0)
        }
    }

    /// A configuration that names no profile.
    private static func configure(_ folder: String, app: String = "") throws {
        let hash = String(repeating: "0", count: 64)
        let text = """
            {"apps": [{"id": "shop", "bundle_id": "com.example.shop"\(app)}],
             "keys": [{"name": "backend", "app": "shop", "secret_sha256": "\(hash)"}], "trust": {"roots": "roots"}}
            """
        try ServerFolder.write(Array(text.utf8), folder + "/assay.json")
    }
}
