import Encoding
import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// `assay import` as an operator runs it, and as a machine cuts it off.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .serialized) struct ImportCommandTests {
    private static func words(_ folder: ServerFolder, _ more: String...) -> [String] {
        ["import", "--config", folder.configuration, "--app", "demo"] + more
    }

    /// The line and outcome of each row of a report.
    private static func report(_ path: String) throws -> [(line: Int64, outcome: String)] {
        try Data(contentsOf: URL(filePath: path)).split(separator: 0x0A).map { line in
            let row = try #require(try JSONDocument(Array(line)).root.object)
            return (try #require(row["line"]?.int64), try #require(row["outcome"]?.string))
        }
    }

    @Test func killedAtManyPlacesItTakesEachRowOnce() async throws {
        try await ServerFolder.with { folder in try await Self.killAndGoOn(folder, flags: []) }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
    func onPostgreSQLToo() async throws {
        try await SharedDatabaseTests.withDatabase { folder, flags in
            // Where a new schema was cut off, import leaves it to migrate.
            #expect(try await Program.run(["migrate"] + flags).code == 0)
            try await Self.killAndGoOn(folder, flags: flags)
        }
    }

    private static func killAndGoOn(_ folder: ServerFolder, flags: [String]) async throws {
        let sample = try ImportSample(rows: 10_000, seed: 5)
        let (file, report) = (folder.path + "/old.jsonl", folder.path + "/report.jsonl")
        try ServerFolder.write(sample.bytes, file)
        var random = SeededRandom(seed: 9)
        let words = words(folder, "--report", report, file) + flags
        // Of the report, in rows: some right after the start, the others anywhere.
        var places = [0, 0] + (0..<6).map { _ in Int.random(in: 1..<7_000, using: &random) }.sorted()
        var kills = 0
        while !places.isEmpty {
            let place = places.removeFirst()
            var process = ChildProcess([Program.path] + words)
            process.environment = [:]
            let running = try process.start()
            let ended = ProcessExit()
            running.whenEnded { ended.note($0) }
            while !ended.isNoted, rows(report) < place { usleep(500) }
            usleep(UInt32.random(in: 0...20_000, using: &random))
            if !ended.isNoted { kill(running.id, SIGKILL) }
            if await ended.code() == -SIGKILL { kills += 1 }
        }
        #expect(kills >= 3)
        let last = try await Program.run(words, within: 240)
        #expect(last.code == 1, "\(last.errorText)")
        let found = try Self.report(report)
        #expect(found.map(\.line) == (1...Int64(sample.outcomes.count)).map(\.self))
        #expect(found.map(\.outcome) == sample.outcomes)
        let place = flags.isEmpty ? ["--data", folder.data] : flags
        let check = try await Program.run(["check", "--json"] + place)
        #expect(check.code == 0, "\(check.text)")
        let ledger = try #require(try JSONDocument(check.output.dropLast()).root.object)
        #expect(ledger["transactions"]?.int64 == Int64(sample.purchases))
        #expect(ledger["fulfilments"]?.int64 == Int64(sample.purchases))
        #expect(ledger["events"]?.int64 == 0)
        // Once more: what was not taken is looked at anew, and what was is known.
        let again = try await Program.run(words, within: 240)
        #expect(again.code == 1, "\(again.errorText)")
        #expect(again.errorText.contains("it is read again from its first row"))
        #expect(try Self.report(report).map(\.outcome) == sample.outcomes.map { $0 == "recorded" ? "known" : $0 })
    }

    private static func rows(_ path: String) -> Int {
        guard let data = FileManager.default.contents(atPath: path) else { return 0 }
        return data.count { $0 == 0x0A }
    }

    @Test func aPlanWritesNothing() async throws {
        try await ServerFolder.with { folder in
            let sample = try ImportSample(rows: 200, seed: 3)
            let file = folder.path + "/old.jsonl"
            try ServerFolder.write(sample.bytes, file)
            let run = try await Program.run(Self.words(folder, "--plan", "--json", file))
            #expect(run.code == 1, "\(run.errorText)")
            let plan = try #require(try JSONDocument(run.output.dropLast()).root.object)
            #expect(plan["rows"]?.int64 == 200)
            #expect(plan["genuine"]?.int64 == Int64(sample.purchases))
            #expect(plan["repeated"]?.int64 == Int64(sample.outcomes.count { $0 == "known" }))
            #expect(plan["has_ledger"]?.bool == false)
            #expect(!FileManager.default.fileExists(atPath: folder.data))
            _ = try await Program.run(Self.words(folder, file))
            let later = try await Program.run(Self.words(folder, "--plan", "--json", file))
            let known = try #require(try JSONDocument(later.output.dropLast()).root.object)
            #expect(known["known"]?.int64 == Int64(sample.purchases))
            #expect(known["genuine"]?.int64 == 0)
        }
    }

    @Test func receiptsInAFolderAndATableAreRead() async throws {
        try await ServerFolder.with { folder in
            let receipts = folder.path + "/receipts"
            try FileManager.default.createDirectory(atPath: receipts, withIntermediateDirectories: false)
            for number in Int64(1)...3 {
                try ServerFolder.write(Array(try Purchase.jws(number).utf8), "\(receipts)/customer-\(number).jws")
            }
            try ServerFolder.write(Array("no receipt".utf8), receipts + "/zoe.txt")
            let run = try await Program.run(Self.words(folder, "--named-for-customers", "--json", receipts))
            #expect(run.code == 1, "\(run.errorText)")
            let found = try #require(try JSONDocument(run.output.dropLast()).root.object)
            #expect(found["recorded"]?.int64 == 3)
            #expect(found["refused"]?.int64 == 1)
            let (one, other) = (try Purchase.jws(3), try Purchase.jws(4))
            let table = "blob\towner\n\(one)\tcustomer-3\n\(other)\tNULL\n"
            try ServerFolder.write(Array(table.utf8), folder.path + "/old.tsv")
            let second = try await Program.run(
                Self.words(
                    folder,
                    "--column",
                    "proof=blob,customer=owner",
                    "--report",
                    folder.path + "/r.csv",
                    folder.path + "/old.tsv"
                )
            )
            #expect(second.code == 0, "\(second.errorText)")
            let rows = String(decoding: try Data(contentsOf: URL(filePath: folder.path + "/r.csv")), as: UTF8.self)
            let words = rows.split(separator: "\n").map { $0.split(separator: ",")[1] }
            #expect(words == ["outcome", "known", "recorded"])
            // A report that is there already belongs to somebody.
            try ServerFolder.write([1], folder.path + "/mine.csv")
            try ServerFolder.write(Array((table + "x\ty\n").utf8), folder.path + "/other.tsv")
            let third = try await Program.run(
                Self.words(
                    folder,
                    "--column",
                    "proof=blob",
                    "--report",
                    folder.path + "/mine.csv",
                    folder.path + "/other.tsv"
                )
            )
            #expect(third.code == 2)
            #expect(third.errorText.contains("nothing is overwritten"))
        }
    }

    /// What an operator mends in the configuration mends the import, too.
    @Test func whatWasNotTakenIsLookedAtAgain() async throws {
        try await ServerFolder.with { folder in
            let (file, report) = (folder.path + "/old.jsonl", folder.path + "/report.jsonl")
            try ServerFolder.write(Array("{\"proof\":\"\(try Purchase.jws(1))\"}\n".utf8), file)
            let words = Self.words(folder, "--json", "--report", report, file)
            let right = try String(contentsOfFile: folder.configuration, encoding: .utf8)
            let wrong = right.replacing(TestAuthority.bundleID.text, with: "com.example.slip")
            try #require(wrong != right)
            try ServerFolder.write(Array(wrong.utf8), folder.configuration)
            for _ in 0..<2 {
                #expect(try await Program.run(words).code == 1)
                #expect(try Self.report(report).map(\.outcome) == ["refused"])
            }
            try ServerFolder.write(Array(right.utf8), folder.configuration)
            let mended = try await Program.run(words)
            #expect(mended.code == 0, "\(mended.errorText)")
            #expect(mended.text.contains(#""rows":1,"recorded":1,"#), "\(mended.text)")
            #expect(try Self.report(report).map(\.outcome) == ["recorded"])
            let whole = try await Program.run(words)
            #expect(whole.output == mended.output)
            #expect(whole.errorText.contains("every row was taken; no row is taken again"))
            #expect(try Self.report(report).map(\.outcome) == ["recorded"])
        }
    }

    /// Whatever is in it: an import of before has nothing to do with it.
    @Test func aFileThatIsNoReportOfThisImportIsLeftAlone() async throws {
        try await ServerFolder.with { folder in
            let (report, mine) = (folder.path + "/report.jsonl", folder.path + "/mine.jsonl")
            let proof = Array("{\"proof\":\"\(try Purchase.jws(1))\"}\n".utf8)
            let (whole, partly) = (folder.path + "/whole.jsonl", folder.path + "/partly.jsonl")
            try ServerFolder.write(proof, whole)
            try ServerFolder.write(proof + Array("{}\n".utf8), partly)
            #expect(try await Program.run(Self.words(folder, whole)).code == 0)
            #expect(try await Program.run(Self.words(folder, partly)).code == 1)
            try ServerFolder.write(Array("precious\n".utf8), mine)
            for (file, says) in [(whole, "was begun without a report"), (partly, "nothing is overwritten")] {
                let run = try await Program.run(Self.words(folder, "--report", mine, file))
                #expect(run.code == 2)
                #expect(run.errorText.contains(says), "\(run.errorText)")
            }
            #expect(try String(contentsOfFile: mine, encoding: .utf8) == "precious\n")
            // What is begun again may have a report from then on, and only the one that it has.
            #expect(try await Program.run(Self.words(folder, "--report", report, partly)).code == 1)
            #expect(try Self.report(report).map(\.outcome) == ["known", "invalid"])
            let written = try Data(contentsOf: URL(filePath: report))
            try ServerFolder.write([UInt8](repeating: 0x20, count: written.count), mine)
            let other = try await Program.run(Self.words(folder, "--report", mine, partly))
            #expect(other.code == 2, "\(other.errorText)")
            #expect(try Data(contentsOf: URL(filePath: mine)).allSatisfy { $0 == 0x20 })
        }
    }

    /// Killed before its first commit, or out of space, it leaves an empty report.
    @Test func anEmptyReportIsGoneOnWith() async throws {
        try await ServerFolder.with { folder in
            let (file, report) = (folder.path + "/old.jsonl", folder.path + "/report.jsonl")
            let sample = try ImportSample(rows: 20, seed: 2)
            try ServerFolder.write(sample.bytes, file)
            try ServerFolder.write([], report)
            let run = try await Program.run(Self.words(folder, "--report", report, file))
            #expect(run.code != 2, "\(run.errorText)")
            #expect(try Self.report(report).map(\.outcome) == sample.outcomes)
        }
    }

    @Test(arguments: [
        (words: ["old.jsonl"], says: "--app is needed"),
        (["--app", "nobody", "old.jsonl"], "the configuration has no app nobody (there is demo, other)"),
        (
            ["--app", "dem", "old.jsonl"],
            "the configuration has no app dem; did you mean \"demo\"? (there is demo, other)"
        ), (["--app", "demo"], "FILE… is missing"),
        (["--app", "demo", "--from", "shopify", "x"], "there is adapty, assay, revenuecat"),
        (["--app", "demo", "--column", "price=x", "x"], "--column price=x cannot be read"),
        (["--app", "demo", "--deliver", "some", "x"], "--deliver none|grant"),
        (["--app", "demo", "--report", "r", "x", "y"], "--report is for the import of one"),
        (["--app", "demo", "missing.csv"], "cannot be read: missing.csv: No such file"),
        (["--app", "demo", "--plan", "missing.csv"], "cannot be read: missing.csv: No such file"),
    ])
    func whatCannotBeDoneIsSaid(words: [String], says: String) async throws {
        try await ServerFolder.with { folder in
            let run = try await Program.run(["import", "--config", folder.configuration] + words, in: folder.path)
            #expect(run.code == 2)
            #expect(run.errorText.contains(says), "\(run.errorText)")
        }
    }

    @Test(arguments: [
        (name: "mac.csv", text: "receipt,user_id\rp,ann\r", says: "mac.csv: lines end with CR alone"),
        ("case.csv", "Receipt,User_ID\np,ann\n", "case.csv: the first line names no column"),
        ("empty.csv", "\nreceipt,user_id\np,ann\n", "empty.csv: the first line names no columns: it is empty"),
    ])
    func aTableThatNamesNothingIsNotRead(name: String, text: String, says: String) async throws {
        try await ServerFolder.with { folder in
            try ServerFolder.write(Array(text.utf8), "\(folder.path)/\(name)")
            for plan in [[], ["--plan"]] {
                let words = ["import", "--config", folder.configuration, "--app", "demo"] + plan
                let run = try await Program.run(words + ["\(folder.path)/\(name)"])
                #expect(run.code == 2)
                #expect(run.errorText.contains(says), "\(run.errorText)")
            }
        }
    }

    /// What stands in the first line is then somebody's proof.
    @Test func aTableWithoutAHeaderShowsNoProof() async throws {
        try await ServerFolder.with { folder in
            let proof = try Purchase.jws(1)
            try ServerFolder.write(Array("\(proof),ann\n".utf8), folder.path + "/old.csv")
            let run = try await Program.run(Self.words(folder, folder.path + "/old.csv"))
            #expect(run.code == 2)
            #expect(
                run.errorText.contains(
                    "names no column with a proof or a transaction's number, but \(proof.prefix(40))…, ann"
                )
            )
            #expect(!run.errorText.contains(proof.prefix(41)))
        }
    }

    /// Of a file that was cut off, the last customer's name may be the beginning of another's.
    @Test func aTableWhoseLastLineHasNoEndIsAskedAbout() async throws {
        try await ServerFolder.with { folder in
            let text = "receipt,customer_id\n\(try Purchase.jws(1)),ann"
            for (end, isWhole) in [("", false), ("\n", true)] {
                let file = "\(folder.path)/\(isWhole).csv"
                try ServerFolder.write(Array((text + end).utf8), file)
                for flags in [["--plan", file], [file]] {
                    let run = try await Program.run(
                        ["import", "--config", folder.configuration, "--app", "demo"] + flags
                    )
                    #expect(run.code == 0, "\(run.errorText)")
                    #expect(
                        run.errorText.contains("has no line end: is the file whole?") == !isWhole,
                        "\(run.errorText)"
                    )
                }
            }
        }
    }

    /// Nobody writes to it.
    @Test func aPipeAmongReceiptsIsNotWaitedFor() async throws {
        try await ServerFolder.with { folder in
            let receipts = folder.path + "/receipts"
            try FileManager.default.createDirectory(atPath: receipts, withIntermediateDirectories: false)
            try ServerFolder.write(Array(try Purchase.jws(1).utf8), receipts + "/a.jws")
            let made = unsafe mkfifo(receipts + "/pipe", 0o600)
            try #require(made == 0)
            let run = try await Program.run(Self.words(folder, "--json", receipts))
            #expect(run.code == 0, "\(run.errorText)")
            #expect(run.text.contains(#""rows":1,"#))
        }
    }

    /// A quote that nobody closed takes the rows that follow into its field.
    @Test(arguments: [
        (rows: "1,anna,\"open\n2,bob,x\n3,carl,y\n", last: 4, reason: "quote"),
        ("1,anna,\"open\n2,bob,x\n3,carl,y", 4, "quote"),
        ("1,anna,\"open\n2,bob,\"x\"\n", 3, "quote"),
        ("1,anna,\"open\n2,bob,x\n3,carl,\", y\"\n", 4, "field_count"),
        // Of a row that stands on its line alone the line says enough.
        ("1,anna,\"o\"pen\n", 2, "quote"),
    ])
    func whatAQuoteTakesAlongIsTold(rows: String, last: Int, reason: String) async throws {
        try await ServerFolder.with { folder in
            let (file, report) = (folder.path + "/old.csv", folder.path + "/report.jsonl")
            try ServerFolder.write(Array(("transaction_id,customer_id,note\n" + rows).utf8), file)
            let says = "old.csv: lines 2 to \(last) are one row by their quotes, and an invalid one (\(reason))"
            let isOne = last == 2
            let plan = try await Program.run(Self.words(folder, "--plan", file))
            #expect(plan.text.contains(isOne ? "  line 2: invalid, " : "  lines 2 to \(last): invalid, \(reason)\n"))
            #expect(plan.errorText.contains(says) != isOne, "\(plan.errorText)")
            let run = try await Program.run(Self.words(folder, "--report", report, file))
            #expect(run.code == 1)
            #expect(run.errorText.contains(says) != isOne, "\(run.errorText)")
            let told = String(decoding: try Data(contentsOf: URL(filePath: report)), as: UTF8.self)
            #expect(told.contains(#""line":2,"#) && told.contains(#""last_line":\#(last),"#) != isOne, "\(told)")
        }
    }

    @Test func rowsThatNameNoCustomerAreCounted() async throws {
        try await ServerFolder.with { folder in
            let text = "receipt,app_user_id\n\(try Purchase.jws(1)),ann\n\(try Purchase.jws(2)),bob\n"
            let (file, report) = (folder.path + "/old.csv", folder.path + "/report.csv")
            try ServerFolder.write(Array(text.utf8), file)
            for flags in [["--plan", "--json"], ["--json", "--report", report]] {
                let words = ["import", "--config", folder.configuration, "--app", "demo"] + flags + [file]
                let run = try await Program.run(words)
                #expect(run.code == 0, "\(run.errorText)")
                let found = try #require(try JSONDocument(run.output.dropLast()).root.object)
                #expect(found["without_customer"]?.int64 == 2)
            }
            let rows = String(decoding: try Data(contentsOf: URL(filePath: report)), as: UTF8.self)
            let outcome = "recorded,test_signed,no_customer,"
            #expect(rows.split(separator: "\n").dropFirst().allSatisfy { $0.contains(outcome) })
            let again = try await Program.run(Self.words(folder, file))
            #expect(again.text.contains("2 of them name no customer"), "\(again.text)")
        }
    }

    /// What lies among receipts may be larger than the memory.
    @Test func aFileThatIsTooLongIsNotRead() async throws {
        try await ServerFolder.with { folder in
            let receipts = folder.path + "/receipts"
            try FileManager.default.createDirectory(atPath: receipts, withIntermediateDirectories: false)
            try ServerFolder.write(Array(try Purchase.jws(1).utf8), receipts + "/a.jws")
            try ServerFolder.write([0], receipts + "/disk.image")
            let image = try FileHandle(forWritingTo: URL(filePath: receipts + "/disk.image"))
            try image.truncate(atOffset: 1 << 36)
            try image.close()
            let report = folder.path + "/report.jsonl"
            let run = try await Program.run(Self.words(folder, "--report", report, receipts))
            #expect(run.code == 1, "\(run.errorText)")
            let rows = String(decoding: try Data(contentsOf: URL(filePath: report)), as: UTF8.self)
            #expect(try Self.report(report).map(\.outcome) == ["recorded", "invalid"])
            #expect(rows.contains("row_too_long"))
        }
    }
}
