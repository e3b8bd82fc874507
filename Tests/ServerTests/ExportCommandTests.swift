import Crypto
import Encoding
import Foundation
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// `assay export`, and what `assay import` makes of it.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .serialized) struct ExportCommandTests {
    private static func export(_ folder: ServerFolder, _ more: String...) async throws -> Program.Run {
        try await Program.run(["export", "--data", folder.data, "--app", "demo"] + more)
    }

    private static func take(_ folder: ServerFolder, _ words: String...) async throws -> Program.Run {
        try await Program.run(["import", "--config", folder.configuration, "--app", "demo", "--json"] + words)
    }

    private static func objects(_ text: [UInt8]) throws -> [JSONObject] {
        try text.split(separator: 0x0A).map { try #require(try JSONDocument(Array($0)).root.object) }
    }

    /// What is the same in every ledger that has it.
    private static func lasting(_ rows: [JSONObject]) -> [String] {
        let moments: Set = ["recorded_at", "decided_at", "recorded_until"]
        return rows.map { row in
            row.members.filter { !moments.contains($0.0) }
                .map { "\($0.0)=\(String(decoding: $0.1.raw, as: UTF8.self))" }.joined(separator: " ")
        }
    }

    /// A ledger with some hundred purchases of an import.
    private static func withLedger(_ body: (ServerFolder, ImportSample) async throws -> Void) async throws {
        try await ServerFolder.with { folder in
            let sample = try ImportSample(rows: 600, seed: 11)
            let file = folder.path + "/old.jsonl"
            try ServerFolder.write(sample.bytes, file)
            _ = try await take(folder, file)
            try await body(folder, sample)
        }
    }

    @Test func anotherLedgerTakesInWhatOneWrites() async throws {
        try await Self.withLedger { folder, sample in
            let file = folder.path + "/all.jsonl"
            let run = try await Self.export(folder, "--to", file)
            #expect(run.code == 0, "\(run.errorText)")
            #expect(run.output.isEmpty)
            let rows = try Self.objects(Array(try Data(contentsOf: URL(filePath: file))))
            let end = try #require(rows.last)
            #expect(end["kind"]?.string == "end" && end["rows"]?.int64 == Int64(rows.count - 1))
            #expect(end["events_after"]?.int64 == 0 && end["unreadable"]?.int64 == 0)
            let kinds = Dictionary(grouping: rows) { $0["kind"]?.string ?? "" }
            #expect(kinds["transaction"]?.count == sample.purchases)
            #expect(kinds["fulfilment"]?.count == sample.purchases)
            #expect(kinds["transaction"]?.allSatisfy { $0["proof"] != nil && $0["owner_id"] != nil } ?? false)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            try await ServerFolder.with { other in
                let taken = try await Self.take(other, "--from", "assay", file)
                #expect(taken.code == 0, "\(taken.errorText) \(taken.text)")
                let again = try await Self.export(other)
                #expect(Self.lasting(try Self.objects(again.output)) == Self.lasting(rows))
                let check = try await Program.run(["check", "--data", other.data])
                #expect(check.code == 0, "\(check.text)")
            }
        }
    }

    @Test func aTableIsTakenInToo() async throws {
        try await Self.withLedger { folder, sample in
            let file = folder.path + "/sold.csv"
            let run = try await Self.export(folder, "--format", "csv", "--only", "transaction", "--to", file)
            #expect(run.code == 0, "\(run.errorText)")
            let table = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
            #expect(table.contains(",'=customer-") && table.contains(",''+customer-") && !table.contains(",=customer-"))
            try await ServerFolder.with { other in
                let taken = try await Self.take(other, "--from", "assay", file)
                #expect(taken.code == 0, "\(taken.errorText) \(taken.text)")
                let found = try #require(try JSONDocument(taken.output.dropLast()).root.object)
                #expect(found["recorded"]?.int64 == Int64(sample.purchases))
                let kinds = try await Self.export(other, "--only", "transaction")
                let here = try await Self.export(folder, "--only", "transaction")
                #expect(
                    Self.lasting(try Self.objects(kinds.output)) == Self.lasting(try Self.objects(here.output))
                )
            }
        }
    }

    /// Cut off at a line's end it looks like a smaller ledger.
    @Test func whatIsNotWholeIsNotTakenIn() async throws {
        try await Self.withLedger { folder, _ in
            let text = try await Self.export(folder, "--only", "transaction").output
            let lines = text.split(separator: 0x0A).map(Array.init)
            func file(_ name: String, _ lines: [[UInt8]]) throws -> String {
                let path = "\(folder.path)/\(name).jsonl"
                try ServerFolder.write(lines.flatMap { $0 + [0x0A] }, path)
                return path
            }
            let rows = lines.count - 1
            let table = [
                (try file("cut", Array(lines.dropLast())), "cut.jsonl is not whole: the last line of an export"),
                (try file("early", Array(lines.prefix(rows / 2))), "early.jsonl is not whole: the last line"),
                (try file("empty", []), "empty.jsonl is not whole: the last line"),
                (
                    try file("gap", Array(lines.prefix(9) + lines.dropFirst(10))),
                    "its end tells of \(rows) rows, and \(rows - 1) stand before it"
                ),
                (
                    try file("twice", Array(lines.prefix(9) + lines)),
                    "its end tells of \(rows) rows, and \(rows + 9) stand before it"
                ),
                (try file("behind", lines + lines.prefix(1)), "behind.jsonl is not whole: the last line"),
            ]
            try await ServerFolder.with { other in
                let report = other.path + "/report.jsonl"
                for (path, says) in table {
                    for flags in [["--plan"], ["--report", report]] {
                        let words = ["import", "--config", other.configuration, "--app", "demo", "--from", "assay"]
                        let run = try await Program.run(words + flags + [path])
                        #expect(run.code == 2, "\(path) \(run.text)")
                        #expect(run.output.isEmpty)
                        #expect(run.errorText.contains(says), "\(run.errorText)")
                    }
                }
                #expect(!FileManager.default.fileExists(atPath: report))
                // Nothing was taken: the ledger does not even know the app.
                let left = try await Self.export(other)
                #expect(left.code == 2 && left.errorText.contains("the ledger has no app"), "\(left.text)")
                // Two that are whole are whole together, and without the last line's end.
                let both = "\(folder.path)/both.jsonl"
                try ServerFolder.write(Array((text + text).dropLast()), both)
                #expect(try await Self.take(other, "--from", "assay", both).code == 0)
            }
        }
    }

    /// One receipt holds what is bob's, ann's and nobody's; others have brought some of it before.
    private static func sharedReceipts() throws -> [UInt8] {
        func receipt(_ numbers: [Int64], age: Int64) throws -> String {
            let receipt = SimulatedReceipt(
                app: TestAuthority.app(),
                createdAt: TestAuthority.moment.advanced(by: .seconds(-age)),
                purchases: try numbers.map { try Purchase.transaction($0) }
            )
            let signer = try ReceiptSigner(TestAuthority.shared.chain(.receiptSHA256), digest: .sha256)
            return String(decoding: Base64.encode(try signer.sign(receipt), .standard, isPadded: true), as: UTF8.self)
        }
        let rows = [
            (try receipt([1], age: 90), "bob"), (try receipt([4, 5], age: 80), "ann"),
            (try receipt([1, 2, 3, 4, 5], age: 10), nil), (try Purchase.jws(2), "ann"),
        ]
        return rows.flatMap { proof, customer in
            JSONWriter.object { json in
                json.member("proof", proof)
                json.member("customer_id", customer)
            } + [0x0A]
        }
    }

    @Test(arguments: ["jsonl", "csv"])
    func eachPurchaseOfOneReceiptComesToItsOwner(format: String) async throws {
        try await ServerFolder.with { folder in
            try ServerFolder.write(try Self.sharedReceipts(), folder.path + "/old.jsonl")
            let old = try await Self.take(folder, folder.path + "/old.jsonl")
            #expect(old.code == 0, "\(old.errorText) \(old.text)")
            let file = "\(folder.path)/sold.\(format)"
            let run = try await Self.export(folder, "--format", format, "--only", "transaction", "--to", file)
            #expect(run.code == 0, "\(run.errorText)")
            let here = Self.lasting(try Self.objects(try await Self.export(folder).output))
            #expect(here.count { $0.contains("kind=\"transaction\"") && $0.contains(" proof=") } == 2)
            try await ServerFolder.with { other in
                let plan = try await Self.take(other, "--plan", "--from", "assay", file)
                #expect(plan.code == 0, "\(plan.errorText) \(plan.text)")
                let taken = try await Self.take(other, "--from", "assay", file)
                #expect(taken.code == 0, "\(taken.errorText) \(taken.text)")
                #expect(Self.lasting(try Self.objects(try await Self.export(other).output)) == here)
                let owners = here.filter { $0.contains("kind=\"transaction\"") }.map { row in
                    ["bob", "ann"].first { row.contains("owner_id=\"\($0)\"") }
                }
                #expect(owners == ["bob", "ann", nil, "ann", "ann"])
                // By another way, the same bytes: nothing is left to do.
                let again = try await Self.take(other, "--from", "assay", "--deliver", "grant", file)
                let found = try #require(try JSONDocument(again.output.dropLast()).root.object)
                #expect(found["recorded"]?.int64 == 0 && found["known"]?.int64 == 5)
                #expect(Self.lasting(try Self.objects(try await Self.export(other).output)) == here)
            }
        }
    }

    @Test func onlyWhatIsAskedForIsWritten() async throws {
        try await Self.withLedger { folder, sample in
            let run = try await Self.export(folder, "--only", "fulfilment,order", "--without-proofs")
            let rows = try Self.objects(run.output)
            #expect(rows.count == sample.purchases + 1)
            #expect(rows.dropLast().allSatisfy { $0["kind"]?.string == "fulfilment" })
            let bare = try Self.objects(
                try await Self.export(folder, "--only", "transaction", "--without-proofs").output
            )
            #expect(bare.allSatisfy { $0["proof"] == nil })
            try ServerFolder.write([1], folder.path + "/there")
            let again = try await Self.export(folder, "--to", folder.path + "/there")
            #expect(again.code == 2 && again.errorText.contains("nothing is overwritten"))
            // The configuration knows it, though nothing was written for it yet.
            let nobodys = try await Program.run(["export", "--config", folder.configuration, "--app", "other"])
            #expect(nobodys.code == 0, "\(nobodys.errorText)")
            #expect(try Self.objects(nobodys.output).map { $0["kind"]?.string } == ["end"])
        }
    }

    /// A slip of the finger is no app without purchases.
    @Test func anAppThatNobodyKnowsIsNone() async throws {
        try await Self.withLedger { folder, _ in
            let file = folder.path + "/none.jsonl"
            let rows = [
                (
                    ["--data", folder.data, "--app", "dmeo"],
                    "the ledger has no app dmeo; did you mean \"demo\"? (there is demo)"
                ), (["--data", folder.data, "--app", "other"], "the ledger has no app other (there is demo)"),
                (
                    ["--config", folder.configuration, "--app", "othr"],
                    "neither the ledger nor the configuration has an app othr; "
                        + "did you mean \"other\"? (there is demo, other)"
                ),
            ]
            for (words, says) in rows {
                let run = try await Program.run(["export", "--to", file] + words)
                #expect(run.code == 2)
                #expect(run.errorText == "assay export: \(says)\n")
                #expect(!FileManager.default.fileExists(atPath: file))
            }
        }
    }

    @Test func whatCannotBeDoneIsSaid() async throws {
        try await ServerFolder.with { folder in
            let absent = try await Self.export(folder)
            #expect(absent.code == 2)
            for words in [["--format", "csv"], ["--only", "sales"], ["--format", "xml"]] {
                let run = try await Program.run(["export", "--data", folder.data, "--app", "demo"] + words)
                #expect(run.code == 2, "\(words) \(run.code)")
                #expect(!run.errorText.isEmpty)
            }
            // Nothing is left of what was not begun.
            let file = folder.path + "/not-begun"
            #expect(try await Self.export(folder, "--to", file).code == 2)
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }
}
