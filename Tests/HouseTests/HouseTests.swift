import Testing

/// Tests about the code itself. A red one says where, and what to do instead; `RulesTests` shows what each catches.
@Suite struct HouseTests {
    @Test func theRepositoryWasFound() {
        #expect(Repository.swift.count > 20)
        #expect(Repository.manifest.targets.count > 20)
    }

    @Test func filesAndFunctionsStayShort() {
        let findings =
            Repository.files.flatMap(Shape.findings)
            + Repository.sources.flatMap { Shape.longFunctions(in: $0.file, $0.code) }
        report(findings)
    }

    @Test func codeDoesWithoutBannedWords() {
        let findings = Repository.sources.flatMap { source in
            Ban.all.flatMap { $0.findings(in: source.file, source.code) }
        }
        report(findings)
    }

    @Test func foldersUseEachOtherOneWay() {
        let findings = Repository.manifest.targets.flatMap { Folders.circles(in: Repository.sources(of: $0)) }
        report(findings)
    }

    @Test func noRoomStandsEmpty() {
        let findings = Repository.paths.filter { $0.hasSuffix("/placeholder.swift") }.map {
            Finding($0, "a placeholder", instead: "Fill the target and delete the file, or delete the target.")
        }
        report(findings)
    }

    @Test func arrowsRunDown() {
        let manifest = Repository.manifest
        let findings = ImportTable.forbiddenArrows(in: manifest) + ImportTable.upwardArrows(in: manifest)
        report(findings)
    }

    @Test func importTableSaysWhatTheManifestSays() {
        let table = ImportTable.rows(of: Repository.file("ARCHITECTURE.md").text)
        let findings = ImportTable.differences(between: Repository.manifest, and: table)
        report(findings)
    }

    @Test func everyDependencyIsDeclaredAndUsed() {
        let manifest = Repository.manifest
        let findings = manifest.targets.filter { !$0.isForeign }.flatMap {
            ImportTable.loose($0, Repository.sources(of: $0), in: manifest)
        }
        report(findings)
    }

    @Test func everySampleHasItsLine() {
        let findings = Documents.unexplainedSamples(Repository.paths) { Repository.file($0).text }
        report(findings)
    }

    @Test func everyLinkLeadsSomewhere() {
        let paths = Set(Repository.paths)
        let findings = Repository.files.filter { !$0.isOfTheseTests }.flatMap { file in
            Documents.brokenLinks(in: file, paths: paths) { Documents.anchors(of: Repository.file($0)) }
        }
        report(findings)
    }

    @Test func everyVerbExists() {
        let makefile = Repository.file("Makefile").text
        report(Repository.markdown.flatMap { Documents.unknownVerbs(in: $0, makefile: makefile) })
    }

    @Test func everyTestThatADocumentNamesExists() {
        let tests = Documents.tests(in: Repository.sources.filter { $0.file.path.hasPrefix("Tests/") })
        report(Repository.markdown.flatMap { Documents.unknownTests(in: $0, tests: tests) })
    }

    @Test func everyAttackHasItsTest() {
        report(Documents.attacksWithoutATest(in: Repository.file("docs/threat-model.md")))
    }

    @Test func everyReasonIsExplained() {
        let reasons = Repository.file("Sources/Verification/Report/Reason.swift")
        report(Documents.unexplainedWords(of: reasons, in: Repository.file("docs/verdicts.md")))
    }

    @Test func documentsStayShortAndSpeakOfTheProject() {
        let files = Repository.files.filter { !$0.isOfTheseTests }
        let findings = files.flatMap(Documents.tooLong) + files.flatMap(Documents.strangers)
        report(findings)
    }
}

/// Makes each finding an issue of the running test.
private func report(_ findings: [Finding], sourceLocation: SourceLocation = #_sourceLocation) {
    for finding in findings { Issue.record("\(finding)", sourceLocation: sourceLocation) }
}

extension TextFile {
    /// These tests must spell out what they forbid.
    fileprivate var isOfTheseTests: Bool { path.hasPrefix("Tests/HouseTests/") }
}
