import Testing

/// The rules of `HouseTests`, each fed with what it must catch and with what it must let pass.
@Suite struct RulesTests {
    private func source(_ path: String, _ text: String) -> (file: TextFile, code: SwiftCode) {
        (TextFile(path: path, text: text), SwiftCode(text))
    }

    // MARK: The code alone

    @Test(arguments: [
        ("let a = 1 // print(a)", "let a = 1 "),
        ("/* a /* b */ print( */let b", "let b"),
        (#"let c = "print(\"x\")""#, #"let c = """#),
        (#"let d = "a \(e ? "{" : "}") b"; f"#, #"let d = ""; f"#),
        (##"let g = #"a " \ print("#; h"##, ##"let g = #""#; h"##),
        ("let i = \"\"\"\n  print(\" \n  \"\"\"; j", "let i = \"\"\"\n\n\"\"\"; j"),
    ])
    func commentsAndStringsAreBlank(text: String, code: String) {
        let blanked = SwiftCode(text).bytes
        #expect(blanked.count == text.utf8.count)
        #expect(blanked.filter { $0 != 0x20 } == code.utf8.filter { $0 != 0x20 })
    }

    @Test func wordsAreFoundAsWords() {
        let code = SwiftCode("fingerprint(1)\nprint(2)\nunsafely\nunsafe x\nUnsafePointer\n")
        #expect(code.lines(with: "print(") == [2])
        #expect(code.lines(with: "unsafe") == [4])
        #expect(code.lines(with: "Unsafe*") == [5])
    }

    // MARK: Bans

    @Test(arguments: [
        ("Sources/Pipeline/A.swift", "let x = unsafe pointer.pointee"),
        ("Sources/HTTP/A.swift", "@safe struct Handle {}"),
        ("Sources/Storage/SQL/A.swift", "func f(_ p: UnsafePointer<UInt8>) {}"),
        ("Sources/Storage/SQL/Connections/A.swift", "final class A: @unchecked Sendable {}"),
        ("Sources/Crypto/A.swift", "nonisolated(unsafe) let a = 1"),
        ("Sources/Pipeline/A.swift", "let now = Date()"),
        ("Sources/Pipeline/A.swift", "try await Task.sleep(for: .seconds(1))"),
        ("Sources/API/A.swift", "Task { await work() }"),
        ("Sources/Simulator/A.swift", "let n = Int.random(in: 0..<3)"),
        ("Sources/Storage/A.swift", #"print("stored")"#),
        ("Sources/API/A.swift", #"ProcessInfo.processInfo.environment["A"]"#),
        ("Sources/Server/A.swift", "let c = Cache.shared"),
        ("Sources/Encoding/A.swift", #"let parts = text.split(separator: ".")"#),
        ("Sources/Encoding/A.swift", "let parts = text.split { $0.isWhitespace }"),
        ("Sources/AppleFormats/A.swift", #"text.replacingOccurrences(of: "-", with: "+")"#),
        ("Sources/HTTP/A.swift", #"line.contains(Character("\r"))"#),
        ("Sources/Verification/A.swift", "import FoundationEssentials"),
        ("Sources/API/A.swift", "import Foundation"),
        ("Sources/Server/A.swift", "import Foundation"),
        ("Sources/Server/A.swift", "import class Foundation.FileHandle"),
        ("Sources/Server/A.swift", "internal import FoundationInternationalization"),
        ("Sources/Server/A.swift", "let found = try files.attributesOfItem(atPath: path)"),
        ("Sources/PurchaseClient/A.swift", "let now = Date()"),
        ("Sources/PurchaseClient/A.swift", "try await Task.sleep(nanoseconds: 1)"),
        ("Sources/PurchaseClient/Outbox/A.swift", "let n = UInt64.random(in: 0..<3)"),
        ("Sources/PurchaseClient/Live/A.swift", "Task { await send() }"),
        ("Sources/PurchaseClient/Live/A.swift", "let session = URLSession.shared"),
        ("Sources/PurchaseClient/Live/A.swift", "unsafe rename(one, other)"),
        ("Sources/PurchaseClient/A.swift", "import Synchronization"),
        ("Sources/PurchaseClient/A.swift", "private let state = Mutex(0)"),
        ("Sources/PurchaseClient/A.swift", "func read(_ bytes: Span<UInt8>) {}"),
        ("Sources/PurchaseClient/Wire/A.swift", "let parts = text.split { $0.isWhitespace }"),
        ("Sources/API/A.swift", "public struct Answer {}"),
        ("Sources/HTTP/A.swift", "public import Encoding"),
    ])
    func aBannedWordIsCaught(path: String, text: String) {
        let (file, code) = source(path, text)
        #expect(Ban.all.flatMap { $0.findings(in: file, code) }.count >= 1)
    }

    @Test(arguments: [
        ("Sources/Crypto/A.swift", "unsafe EVP_PKEY_free(key)"),
        ("Sources/Crypto/SharedHandle.swift", "@safe final class SharedHandle: @unchecked Sendable {}"),
        ("Sources/HTTP/Listening/A.swift", "Task { await handle(request) }"),
        ("Sources/Server/A.swift", "print(line); Date(); import FoundationEssentials"),
        ("Sources/Encoding/A.swift", "// unlike text.split(, this walks bytes\nlet fingerprint = fingerprint(bytes)"),
        ("Sources/HTTP/A.swift", #"path.utf8.split(separator: UInt8(ascii: "/"))"#),
        ("Sources/Pipeline/A.swift", "let now = clock.now; let task: Task<Void, Never>"),
        ("Tests/EncodingTests/A.swift", "print(Date())"),
        ("Sources/PurchaseClient/A.swift", "public import Foundation"),
        ("Sources/PurchaseClient/Live/A.swift", "Date(); ProcessInfo.processInfo.systemUptime"),
        ("Sources/PurchaseClient/Live/A.swift", "import FoundationNetworking"),
        ("Sources/PurchaseClient/Journal/A.swift", "guard unsafe rename(one, other) == 0 else { return }"),
    ])
    func whatIsAllowedPasses(path: String, text: String) {
        let (file, code) = source(path, text)
        #expect(Ban.all.flatMap { $0.findings(in: file, code) } == [])
    }

    // MARK: Shape

    @Test(arguments: [
        ("a\n", 0), ("a", 1), ("a \n", 1), ("\ta\n", 1), ("a\r\n", 1),
        (String(repeating: "a\n", count: 400), 0), (String(repeating: "a\n", count: 401), 1),
    ])
    func linesAreCountedAndClean(text: String, findings: Int) {
        #expect(Shape.findings(in: TextFile(path: "Sources/A/A.swift", text: text)).count == findings)
    }

    @Test(arguments: [
        ("func f(\n  a: Int = { 1 }()\n) -> Int {", 1), ("    init?(_ text: String) {", 1), ("var x: Int {", 1),
        ("extension A {", 0), ("protocol P { func f()\n}\nextension A {", 0), ("let y = self.init {", 0),
    ])
    func longFunctionsAreCaught(opening: String, findings: Int) {
        for (lines, expected) in [(70, findings), (40, 0)] {
            let body = String(repeating: "    if a { b(\"}\") }\n", count: lines)
            let (file, code) = source("Sources/A/A.swift", opening + "\n" + body + "}\n")
            #expect(Shape.longFunctions(in: file, code).count == expected)
        }
    }

    // MARK: Folders

    @Test func foldersInACircleAreCaught() {
        let low = source("Sources/A/Low/Low.swift", "package struct Low { let fault: Fault }")
        let high = source("Sources/A/High.swift", "package struct High { let low: Low }\nenum Fault { case a }")
        let findings = Folders.circles(in: [low, high])
        #expect(findings.count == 1)
        #expect(findings.first?.what.contains("Sources/A/Low uses Fault of Sources/A") == true)
    }

    @Test func foldersInALongCircleAreCaughtOnce() {
        let circle = [("A", "B"), ("B", "C"), ("C", "A")].map { name, next in
            source("Sources/T/\(name)/\(name).swift", "struct \(name) { let next: [\(next)] }")
        }
        #expect(Folders.circles(in: circle).count == 1)
    }

    @Test(arguments: [
        "struct High { let low: Low }",
        "struct High { let low: Low }\nprivate enum Fault {}",
        "struct High { enum Fault {}\n let low: Low }",
    ])
    func foldersInOneDirectionPass(high: String) {
        let low = source("Sources/A/Low/Low.swift", "struct Low { enum Fault {}\n let fault: Fault }  // High")
        #expect(Folders.circles(in: [low, source("Sources/A/High.swift", high)]) == [])
    }

    // MARK: Imports

    private static let manifest = """
        func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
            .target(name: name, dependencies: dependencies)
        }
        let package = Package(
            products: [.executable(name: "assay", targets: ["Server"])],
            targets: [
                // Floor 0, with a "quotation".
                .systemLibrary(name: "CLib", path: "Sources/System/CLib", providers: [.apt(["lib-dev"])]),
                room("Low", ["CLib"]),
                room(
                    "High",
                    ["Low"],
                    resources: [.embedInCode("Roots")]
                ),
                .executableTarget(name: "Server", dependencies: ["Low", "High"], swiftSettings: house),
                tests("HighTests", ["High"]),
            ]
        )
        """

    @Test func theManifestIsRead() {
        let manifest = Manifest(Self.manifest)
        #expect(manifest.targets.map(\.name) == ["CLib", "Low", "High", "Server", "HighTests"])
        #expect(manifest.targets.map(\.dependencies) == [[], ["CLib"], ["Low"], ["Low", "High"], ["High"]])
        #expect(manifest.targets.map(\.isForeign) == [true, false, false, false, false])
        #expect(manifest.targets.map(\.isTest) == [false, false, false, false, true])
        #expect(manifest.targets.last?.folder == "Tests/HighTests/")
    }

    @Test func arrowsThatRunUpAreCaught() {
        let manifest = Manifest(#"room("API", ["AppleFormats", "Server"]), room("AppleFormats", [])"#)
        #expect(ImportTable.upwardArrows(in: manifest).count == 2)
        #expect(ImportTable.forbiddenArrows(in: manifest).count == 2)
        #expect(ImportTable.upwardArrows(in: Manifest(Self.manifest)) == [])
        #expect(ImportTable.forbiddenArrows(in: Manifest(Self.manifest)) == [])
    }

    @Test(arguments: [
        (#"room("PurchaseModel"), room("PurchaseClient", ["PurchaseModel"])"#, 1),
        (#".systemLibrary(name: "CLib"), room("PurchaseClient", ["CLib"])"#, 1),
        (#"room("PurchaseClient"), room("API", ["PurchaseClient"])"#, 1),
        (#"room("PurchaseClient"), tests("PurchaseClientTests", ["PurchaseClient"])"#, 0),
    ])
    func theClientStandsAlone(targets: String, findings: Int) {
        #expect(ImportTable.forbiddenArrows(in: Manifest(targets)).count == findings)
    }

    @Test(arguments: [
        ("| Low | – | CLib | why |\n| High | Low | – | why |\n| Server | Low, High | – | why |", 0),
        ("| Low | – | – | why |\n| High | Low | – | why |\n| Server | Low, High | – | why |", 1),
        ("| Low | – | CLib | why |\n| Server | Low, High | – | why |\n| Gone | – | – | why |", 2),
    ])
    func aTableThatDiffersIsCaught(rows: String, findings: Int) {
        let table = ImportTable.rows(of: "| target | may import | C library | why |\n|---|---|---|---|\n" + rows)
        #expect(ImportTable.differences(between: Manifest(Self.manifest), and: table).count == findings)
    }

    @Test(arguments: [
        ("import Low", 0), ("package import Low\nimport Synchronization", 0), ("import struct Low.Thing", 0),
        ("// import Low", 1), ("import Low\nimport CLib", 1),
    ])
    func looseImportsAreCaught(text: String, findings: Int) throws {
        let manifest = Manifest(Self.manifest)
        let high = try #require(manifest.targets.first { $0.name == "High" })
        #expect(ImportTable.loose(high, [source("Sources/High/A.swift", text)], in: manifest).count == findings)
    }

    @Test func whatATestStartsItNeedNotImport() throws {
        let manifest = Manifest(Self.manifest + #" tests("ServerTests", ["Server", "Low"])"#)
        let tests = try #require(manifest.targets.last)
        let findings = ImportTable.loose(tests, [source("Tests/ServerTests/A.swift", "import Testing")], in: manifest)
        #expect(findings.map(\.what) == ["ServerTests declares Low and never imports it"])
    }

    // MARK: Documents

    @Test(arguments: [
        ("[a](B.md)", 0), ("[a](../README.md#what-it-is)", 0), ("[a](https://example.org/x)", 0), ("[a](decisions)", 0),
        ("[a](C.md)", 1), ("[a](../README.md#nowhere)", 1), ("as docs/decisions/0001-a says", 0),
        ("as docs/decisions/0002 says", 1),
    ])
    func brokenLinksAreCaught(text: String, findings: Int) {
        let file = TextFile(path: "docs/A.md", text: text)
        let paths: Set = ["README.md", "docs/A.md", "docs/B.md", "docs/decisions/0001-a.md"]
        let readme = TextFile(path: "README.md", text: "# Assay\n## What *it* is?\n")
        let broken = Documents.brokenLinks(in: file, paths: paths) { _ in Documents.anchors(of: readme) }
        #expect(broken.count == findings)
    }

    @Test(arguments: [
        ("make run", 0), ("Say `make run`.", 0), ("to make sure", 0), ("make cake", 1), ("`make cake`", 1),
    ])
    func unknownVerbsAreCaught(text: String, findings: Int) {
        let file = TextFile(path: "README.md", text: text)
        #expect(Documents.unknownVerbs(in: file, makefile: ".PHONY: run\nrun: ## serves\n\tx\n").count == findings)
    }

    @Test(arguments: [
        ("`ATests`", 0), ("`ATests.worksWell`", 0), ("`BTests`", 1), ("`ATests.worksNot`", 1),
        ("shows `A.worksNot`", 0),
    ])
    func unknownTestsAreCaught(text: String, findings: Int) {
        let tests = Documents.tests(in: [source("Tests/A/ATests.swift", "struct ATests { @Test func worksWell() {} }")])
        #expect(Documents.unknownTests(in: TextFile(path: "a.md", text: text), tests: tests).count == findings)
    }

    @Test(arguments: [
        ("| attack | shown by |\n|---|---|\n| a | `ATests.b` |\n\n| other | table |\n|---|---|\n| x | y |", 0),
        ("| attack | shown by |\n|---|---|\n| `ATests` | |\n| b | `ATests`, `BTests` |", 1),
    ])
    func attacksWithoutATestAreCaught(text: String, findings: Int) {
        #expect(Documents.attacksWithoutATest(in: TextFile(path: "docs/t.md", text: text)).count == findings)
    }

    @Test(arguments: [
        ("| `a` | one |\n| `bee` | two |\n| `forged` | three |", 0), ("| `a` | one |", 1),
        ("| `a` | one |\n| `bee` | two |\n| `c` | gone |", 1),
    ])
    func unexplainedWordsAreCaught(text: String, findings: Int) {
        let reasons = TextFile(path: "R.swift", text: "enum R: String {\n    case a\n    case b = \"bee\"\n}\n")
        let document = TextFile(path: "docs/verdicts.md", text: text)
        #expect(Documents.unexplainedWords(of: reasons, in: document).count == findings)
    }

    @Test func samplesWithoutALineAreCaught() {
        let paths = ["Tests/ATests/Samples/README.md", "Tests/ATests/Samples/a.jws", "Tests/ATests/Samples/b.jws"]
        let findings = Documents.unexplainedSamples(paths) { _ in "| a.jws | made by us |" }
        #expect(findings.map(\.path) == ["Tests/ATests/Samples/b.jws"])
    }

    @Test(arguments: [
        ("see /home/me/assay", 1), ("cd \"/work/x", 1), ("GET /v1/home/x and https://example.org/home/x", 0),
        ("This session added it.", 1), ("Fixes #12", 1), ("a TLS session", 0), ("Apple's issue in the app", 0),
        ("// TODO: later", 1),
    ])
    func strangersAreCaught(text: String, findings: Int) {
        #expect(Documents.strangers(in: TextFile(path: "a.md", text: text)).count == findings)
    }

    @Test func longDocumentsAreCaught() {
        let text = String(repeating: "a\n", count: 61)
        #expect(Documents.tooLong(TextFile(path: "docs/decisions/0001-a.md", text: text)).count == 1)
        #expect(Documents.tooLong(TextFile(path: "docs/verdicts.md", text: text)).isEmpty)
    }
}
