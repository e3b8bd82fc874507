import Foundation
import PurchaseModel
import TestSupport
import Testing

/// What was delivered under another name would be delivered again: a server does not start on it. In a sandbox nobody minds.
///
/// Nothing here is Apple's own, so the rows are made so.
@Suite(
    .enabled(if: Program.isBuilt, Program.absence),
    .enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file")
)
struct EarlierLedgerTests {
    private static let refusal = "are kept under the app demo, which the configuration calls shop"
    private static let ofDemo = "app = (SELECT code FROM apps WHERE name = 'demo')"

    /// A folder with one purchase of `demo`, which the configuration then calls otherwise.
    private static func withPurchase(_ body: (ServerFolder, Names) async throws -> Void) async throws {
        try await ServerFolder.with { folder in
            try await serve(folder, selling: 1)
            try await body(folder, try Names(folder))
        }
    }

    /// Starts a server, has it record a purchase, and ends it.
    @discardableResult
    private static func serve(_ folder: ServerFolder, selling number: Int64? = nil) async throws -> ServerProcess {
        let server = try await folder.serve()
        if let number { #expect(await server.post(Purchase.body(try Purchase.jws(number)))?.result == "recorded") }
        server.stop()
        #expect(await server.exitCode() == 0)
        return server
    }

    private static func confirmRefused(_ folder: ServerFolder) async throws {
        let run = try await ServeStartTests.start(folder)
        #expect(run.code == 2)
        #expect(try ServeStartTests.why(run).contains(refusal))
        let doctor = try await Program.run(["doctor", "--offline", "--config", folder.configuration])
        #expect(doctor.text.contains(refusal), "\(doctor.text)")
    }

    private static func makeReal(_ rows: String, in folder: ServerFolder) throws {
        try Tampering.run("UPDATE transactions SET realm = 0 WHERE \(rows)", folder)
    }

    /// Who goes live under another id than things were tried out under. What is left behind is told.
    @Test func whatWasBoughtInASandboxHoldsUpNobody() async throws {
        try await Self.withPurchase { folder, names in
            try names.configure("shop")
            let server = try await Self.serve(folder)
            let told = server.errors.lines.first { $0.contains("app_not_configured") }
            #expect(told?.contains(#""app":"demo""#) == true)
            let doctor = try await Program.run(["doctor", "--offline", "--config", folder.configuration])
            #expect(doctor.text.contains("it has purchases of the app demo, which is not configured"), "\(doctor.text)")
        }
    }

    @Test func anAppThatHasPurchasesKeepsItsID() async throws {
        try await Self.withPurchase { folder, names in
            try Self.makeReal(Self.ofDemo, in: folder)
            try names.configure("shop")
            try await Self.confirmRefused(folder)
            // Another app may begin, and the same in a sandbox alone. A purchase of that is none of what is to be taken over.
            try names.configure("shop", bundle: "com.example.third")
            try await Self.serve(folder)
            try names.configure("shop", environments: #"["sandbox"]"#)
            try await Self.serve(folder, selling: 2)
            try names.configure("shop")
            try await Self.confirmRefused(folder)
            try names.configure("demo")
            try await Self.serve(folder)
        }
    }

    /// The way out that the refusal names.
    @Test func whatWasTakenOverIsThereAlready() async throws {
        try await Self.withPurchase { folder, names in
            try names.configure("shop")
            let file = folder.path + "/demo.jsonl"
            let place = ["--config", folder.configuration]
            #expect(try await Program.run(["export", "--app", "demo", "--to", file] + place).code == 0)
            let taken = try await Program.run(["import", "--app", "shop", "--from", "assay", file] + place)
            #expect(taken.code == 0, "\(taken.errorText)")
            try Self.makeReal("transaction_id > 0", in: folder)
            let server = try await Self.serve(folder)
            #expect(server.errors.lines.contains { $0.contains("app_not_configured") })
        }
    }

    /// Whose it is nothing else tells, and no app of the ledger is to stand still for that.
    @Test func aProofThatCannotBeReadHoldsUpNobody() async throws {
        try await Self.withPurchase { folder, names in
            try Self.makeReal(Self.ofDemo, in: folder)
            try Tampering.run("UPDATE evidence SET sha256 = x'00'", folder)
            try names.configure("shop")
            try await Self.serve(folder)
        }
    }

    /// What the configuration calls the app, of which bundle and stores it is.
    private struct Names {
        private let folder: ServerFolder
        private let text: String

        init(_ folder: ServerFolder) throws {
            self.folder = folder
            text = String(decoding: try Data(contentsOf: URL(filePath: folder.configuration)), as: UTF8.self)
        }

        func configure(
            _ id: String,
            bundle: String = TestAuthority.bundleID.text,
            environments: String = #"["sandbox","production"]"#
        ) throws {
            let changed = text.replacing(#""id":"demo""#, with: #""id":"\#(id)""#)
                .replacing(#""app":"demo""#, with: #""app":"\#(id)""#)
                .replacing(TestAuthority.bundleID.text, with: bundle)
                .replacing(#"["sandbox"]"#, with: environments)
            try ServerFolder.write(Array(changed.utf8), folder.configuration)
        }
    }
}
