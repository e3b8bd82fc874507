import Crypto
import Foundation
import TestSupport
import Testing

/// What a server does not start with, `assay config check` finds before.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct StartCheckTests {
    private static let path = "apps[0].app_store.private_key_file"

    /// Each row: what is in the file of the private key, and what is said of it.
    private static func keys() throws -> [(pem: [UInt8], says: String)] {
        [
            (Array("-----BEGIN PRIVATE KEY-----".utf8), "it is no private key in PEM"),
            (Array("PEM".utf8), "it is no private key in PEM"),
            (try PrivateKey(generate: .p384).pem(), "the key is not on P-256"),
            (try PrivateKey(generate: .rsa2048).pem(), "the key is not on P-256"),
        ]
    }

    @Test func aKeyThatIsNoneIsTold() async throws {
        try await TemporaryFolder.with { folder in
            try Self.configure(folder)
            for (pem, says) in try Self.keys() {
                try ServerFolder.write(pem, folder + "/p8", isSecret: true)
                let why = "the private key 2X9R4HXF34 of app shop cannot be used: "
                let served = try await Program.run(
                    ["serve", "--config", "assay.json", "--listen", "127.0.0.1:0"],
                    in: folder
                )
                #expect(served.code == 2 && served.errorText.contains(why) && served.errorText.contains(says))
                for command in ["check", "print"] {
                    let run = try await Program.run(["config", command, "--config", "assay.json"], in: folder)
                    #expect(run.code == 2 && run.output.isEmpty)
                    #expect(run.errorText.contains("assay.json: \(Self.path): \(why)"), "\(run.errorText)")
                    #expect(run.errorText.contains(says), "\(run.errorText)")
                }
            }
            try ServerFolder.write(try PrivateKey(generate: .p256).pem(), folder + "/p8", isSecret: true)
            #expect(try await Program.run(["config", "check", "--config", "assay.json"], in: folder).code == 0)
        }
    }

    /// All that is wrong is told at once: what no text shows beside what the text shows.
    @Test func certificatesThatAreNoneAreTold() async throws {
        try await TemporaryFolder.with { folder in
            try ServerFolder.write(try PrivateKey(generate: .p384).pem(), folder + "/p8", isSecret: true)
            try ServerFolder.makeRoots(in: folder + "/roots")
            for name in ["roots/one.pem", "roots/two.DER", "certificates/three.crt"] {
                let place = URL(filePath: folder + "/" + name).deletingLastPathComponent()
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                try ServerFolder.write(Array("none".utf8), folder + "/" + name)
            }
            try Self.configure(
                folder,
                more: #", "trust": {"roots": "roots", "certificates": "certificates"}, "listn": """#
            )
            let run = try await Program.run(["config", "check", "--config", "assay.json"], in: folder)
            let told = run.errorLines.dropFirst()
            let beginnings = [
                "listn: unknown", "trust.roots: roots/0.der is a simulator's",
                "trust.roots: roots/1.der is a simulator's",
                "trust.roots: roots/one.pem: no certificate: ", "trust.roots: roots/two.DER: no certificate: ",
                "trust.certificates: certificates/three.crt: no certificate: ", "\(Self.path): the private key ",
            ]
            #expect(run.code == 2 && told.count == beginnings.count, "\(told)")
            for (line, beginning) in zip(told, beginnings) {
                #expect(line.hasPrefix("assay: assay.json: \(beginning)"), "\(line)")
            }
            let json = try await Program.run(["config", "check", "--json", "--config", "assay.json"], in: folder)
            #expect(json.code == 2 && json.text.contains(#""path":"trust.certificates""#), "\(json.text)")
            #expect(json.text.contains("\"path\":\"\(Self.path)\""), "\(json.text)")
        }
    }

    private static func configure(_ folder: String, more: String = "") throws {
        let hash = String(repeating: "0", count: 64)
        let text = """
            {"apps": [{"id": "shop", "bundle_id": "com.example.shop", "app_store":
               {"issuer_id": "57246542-96fe-1a63-e053-0824d011072a", "key_id": "2X9R4HXF34", "private_key_file": "p8"}}],
             "keys": [{"name": "backend", "app": "shop", "secret_sha256": "\(hash)"}]\(more)}
            """
        try ServerFolder.write(Array(text.utf8), folder + "/assay.json")
    }
}
