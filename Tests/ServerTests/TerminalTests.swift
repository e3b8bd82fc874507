import Foundation
import PurchaseModel
import Simulator
import TestSupport
import Testing

@testable import Server

/// A proof comes from a stranger, and a terminal obeys what it is sent.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct TerminalTests {
    /// A colour, a window's title, an erased line, the same by one C1 byte, a text that runs backwards, a line of its
    /// own, a tag that nobody sees.
    static let hostile =
        "a\u{1B}[31m\u{1B}]0;x\u{07}\r\u{1B}[2K\u{9B}2J\u{202E}b\u{2028}c\u{7F}\n-: genuine\u{E0041}d\u{301}"

    @Test(arguments: [[], ["--json"]], ["bundleId", "appTransactionId", "storefront", "offerIdentifier", "currency"])
    func nothingInASignedProofReachesTheTerminalRaw(flags: [String], member: String) async throws {
        var payload = Payload.transaction(try Purchase.transaction(1), of: TestAuthority.app())
        payload[member] = .text(Self.hostile)
        try await check(Array(try TestAuthority.signer().sign(payload).utf8), flags)
    }

    @Test(arguments: [[], ["--json"]]) func norOfANotification(flags: [String]) async throws {
        let notice = try await Self.notice()
        try await check(Array(notice.utf8), flags)
    }

    @Test(arguments: [[], ["--json"]]) func norOfWhatIsNoProof(flags: [String]) async throws {
        try await check(Array(Self.hostile.utf8), flags)
        try await check(Array("{\"\(Self.hostile)\":1}".utf8), flags)
        try await check([0x30, 0x80] + Array(Self.hostile.utf8), flags)
    }

    @Test(arguments: [[], ["--json"]]) func norOfAFilesName(flags: [String]) async throws {
        try await TemporaryFolder.with { folder in
            let name = Self.hostile.replacing("/", with: "")
            try ServerFolder.write([], "\(folder)/\(name)")
            for file in [name, name + "-missing"] {
                let run = try await Program.run(["verify"] + flags + [file], in: folder)
                #expect(Self.commands(in: run.output) == [])
                #expect(Self.commands(in: run.errors) == [])
            }
            let flag = try await Program.run(["verify", "--\(name)"])
            #expect(Self.commands(in: flag.errors) == [])
        }
    }

    private static func notice() async throws -> String {
        var payload = Payload()
        payload["notificationType"] = .text(hostile)
        payload["subtype"] = .text(hostile)
        payload["notificationUUID"] = .text(hostile)
        payload["version"] = .text("2.0")
        payload["signedDate"] = .number(TestAuthority.moment.milliseconds)
        var data = Payload()
        data["bundleId"] = .text(TestAuthority.bundleID.text)
        data["environment"] = .text("Sandbox")
        payload["data"] = .object(data)
        return try TestAuthority.signer().sign(payload)
    }

    private func check(_ proof: [UInt8], _ flags: [String]) async throws {
        try await TemporaryFolder.with { folder in
            try ServerFolder.makeRoots(in: folder + "/roots")
            let run = try await Program.run(["verify", "--roots", folder + "/roots"] + flags + ["-"], input: proof)
            #expect([0, 1].contains(run.code))
            #expect(!run.output.isEmpty)
            #expect(Self.commands(in: run.output) == [], "\(run.text.debugDescription)")
            #expect(Self.commands(in: run.errors) == [])
            // One report, one verdict: none was slipped in as a line of its own.
            #expect(run.text.split(separator: "\n").count { $0.hasPrefix("-: ") } == (flags.isEmpty ? 1 : 0))
            if !flags.isEmpty { #expect(run.text.split(separator: "\n").count == 1) }
        }
    }

    /// A file that is cut off is not what was asked for.
    @Test(arguments: [["--version"], ["--help"], ["verify", "--help"], ["config", "print"], ["man"]])
    func whatCannotBeWrittenWasNotDone(words: [String]) async throws {
        try await TemporaryFolder.with { folder in
            let settings = ConfigurationTests.minimal
            try OpenFile(folder + "/a.json", to: .make).write(Array(settings.utf8))
            let words = words.first == "config" ? words + ["--config", folder + "/a.json"] : words
            let good = try await Program.run(words)
            #expect(good.code == 0, "\(good.errorText)")
            let run = try await Program.run(words, output: "/dev/full")
            #expect(run.code == 2)
            #expect(run.errorText.contains("standard output cannot be written"))
        }
    }

    /// Whatever is not a line feed and not a character that merely stands there.
    private static func commands(in bytes: [UInt8]) -> [Unicode.Scalar] {
        String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar != "\n"
            case .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: true
            default: false
            }
        }
    }
}
