import Encoding
import Pipeline
import Storage

/// `assay check`: looks at a whole ledger, and says what is wrong with it.
struct CheckLedger {
    let place: LedgerPlace
    let isJSON: Bool
    /// What was noted elsewhere of the audit log's chain.
    let links: NotedLinks

    /// What was found out: of the file, and of what is in it.
    struct Result: Sendable {
        /// What the database says of its own file.
        var problems: [String]
        /// `nil` when the file is so damaged that its rows cannot be walked.
        var findings: LedgerFindings?

        var isSound: Bool { problems.isEmpty && findings?.isSound == true }

        /// Sound but, if anything, for the log of who did what: a copy is none the worse for a chain that was broken before.
        var isSoundBesideAudit: Bool { problems.isEmpty && findings?.isSoundBesideAudit == true }
    }

    init(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        place = try LedgerPlace(arguments, environment)
        isJSON = arguments.isSet("json")
        links = NotedLinks(head: try Self.link("audit-head", arguments), start: try Self.link("audit-from", arguments))
        if let head = links.head, let start = links.start, head.number < start.number {
            throw UsageFault(
                "--audit-head is before --audit-from, and nothing before that is worked out",
                hint: "compare it by a check of its own, without --audit-from"
            )
        }
    }

    private static func link(_ option: String, _ arguments: Arguments) throws(UsageFault) -> AuditLink? {
        guard let text = arguments.value(option) else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let number = Int64(parts[0]), number > 0,
            let digest = Hexadecimal.decode(parts[1]), digest.count == AuditLink.length
        else { throw UsageFault("\"\(text)\" is no head of the audit log", hint: "--\(option) NUMBER:SHA256") }
        return AuditLink(number: number, digest: digest)
    }

    /// - Returns: 0 when it is sound, 1 when it is not, 2 when it cannot be read.
    func run() async -> Int32 {
        do {
            let ledger = try await place.openToRead()
            let result = await CheckLedger.examine(ledger, noted: links)
            await ledger.close()
            let found = try result.get()
            let text = isJSON ? CheckJSON.line(found) : Array(CheckText.text(found).utf8)
            guard Console.write(text) else {
                Console.error("assay check: standard output cannot be written")
                return 2
            }
            return found.isSound ? 0 : 1
        } catch {
            Console.error("assay check: \(ReportText.printable(place.shown)): \(StoreSentence.of(error))")
            return 2
        }
    }

    /// Looks at the file, and at every row over one snapshot.
    ///
    /// - Parameters:
    ///   - ledger: stays open.
    ///   - links: what was noted elsewhere of the audit log's chain.
    /// - Returns: what was found, or why it cannot be read.
    static func examine(
        _ ledger: OpenedLedger,
        noted links: NotedLinks = NotedLinks()
    ) async -> Swift.Result<Result, StoreFailure> {
        do throws(StoreFailure) {
            var result = Result(problems: try await ledger.integrityProblems(), findings: nil)
            do throws(StoreFailure) {
                result.findings = try await ledger.read { reader throws(StoreFailure) in
                    try LedgerCheck.run(over: reader, noted: links)
                }
            } catch .broken(let code) {
                // Of a damaged file that is no news.
                if result.problems.isEmpty { throw .broken(code: code) }
            }
            return .success(result)
        } catch {
            return .failure(error)
        }
    }
}
