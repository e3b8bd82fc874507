import PurchaseModel
import Storage
import Testing

/// Text that is out to be cut, changed or mistaken for SQL.
@Suite struct HostileTextTests {
    @Test(
        arguments: StoreKind.allCases,
        [
            "'; DROP TABLE transactions; --", "\"\u{301}", "'\u{301}", "caf\u{E9}", "cafe\u{301}", "😀👩‍👩‍👧", "\u{202E}USA",
            "\r\n", "\u{FEFF}", "$1",
            "\u{FFFF}\u{10FFFF}", "", String(repeating: "😀", count: 1_024),
        ]
    )
    func comesBackByteForByte(kind: StoreKind, text: String) async throws {
        try await kind.withStore { store in
            let evidence = try Samples.evidence()
            let row = try Self.row(text)
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(Decision(changes: [.insert(row)]), evidence: evidence)
            }
            let found = try await store.read { reader throws(StoreFailure) in try reader.transactions([row.key]) }
            let transaction = try #require(found.first?.transaction)
            for stored in [transaction.storefront, transaction.offer?.identifier, transaction.kind?.rawValue] {
                #expect(stored.map { Array($0.utf8) } == Array(text.utf8))
            }
        }
    }

    @Test(
        arguments: StoreKind.allCases,
        ["\u{0}", "a\u{0}b", "USA\u{0}", String(repeating: "x", count: 4_097), String(repeating: "😀", count: 1_025)]
    )
    func whatNotEveryStoreCanHoldIsRefusedAndTheBatchGoesOn(kind: StoreKind, text: String) async throws {
        try await kind.withStore { store in
            let evidence = try Samples.evidence()
            let bad = try Self.row(text)
            let good = try Samples.recorded(Samples.transaction(2))
            let failure = try await store.write { transaction throws(StoreFailure) -> StoreFailure? in
                var failure: StoreFailure?
                do throws(StoreFailure) {
                    try transaction.apply(Decision(changes: [.insert(bad)]), evidence: evidence)
                } catch { failure = error }
                try transaction.apply(Decision(changes: [.insert(good)]), evidence: evidence)
                return failure
            }
            #expect(failure == .unstorable)
            let figures = try await store.read { reader throws(StoreFailure) in try reader.figures() }
            #expect(figures == StoreFigures(transactions: 1, evidence: 1))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func anEnvironmentWithoutACodeIsRefused(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let evidence = try Samples.evidence()
            let realm = Realm(environment: StoreEnvironment(rawValue: "moon"), isTestSigned: false)
            let row = try Samples.recorded(Samples.transaction(1), realm: realm)
            await #expect(throws: StoreFailure.unstorable) {
                try await store.write { transaction throws(StoreFailure) in
                    try transaction.apply(Decision(changes: [.insert(row)]), evidence: evidence)
                }
            }
            #expect(try await store.read { reader throws(StoreFailure) in try reader.transactions([row.key]) } == [])
        }
    }

    @Test(arguments: StoreKind.allCases, ["", "b\u{E9}", "a\u{0}", "a\nb", String(repeating: "x", count: 256)])
    func ourOwnWordsArePrintableASCII(kind: StoreKind, word: String) async throws {
        try await kind.withStore { store in
            for place in Place.allCases {
                let submission = try Self.submission(word)
                let evidence = try Self.evidence(word)
                let row = try Samples.recorded(Samples.transaction(1))
                await #expect(throws: StoreFailure.unstorable) {
                    try await store.write { write throws(StoreFailure) in
                        switch place {
                        case .submission: _ = try write.keepPending(submission)
                        case .evidence: try write.apply(Decision(changes: [.insert(row)]), evidence: evidence)
                        case .refusal: try write.addRefusals(counts: [Self.key(word): 1], samples: [])
                        case .settlement:
                            let settlement = Settlement(verdict: word, at: Samples.now)
                            _ = try write.settlePending(submission.id, as: settlement)
                        }
                    }
                }
            }
        }
    }

    /// Where words of our own stand.
    private enum Place: CaseIterable { case submission, evidence, refusal, settlement }

    private static func key(_ word: String) -> RefusalKey {
        RefusalKey(hour: HourOfTime(number: 0), app: nil, reason: word)
    }

    private static func submission(_ word: String) throws -> PendingSubmission {
        var submission = try Samples.submission(1)
        submission.reason = word
        return submission
    }

    private static func evidence(_ word: String) throws -> EvidenceRow {
        var evidence = try Samples.evidence()
        evidence.verdict = word
        return evidence
    }

    /// A row with the text wherever one may stand.
    private static func row(_ text: String) throws -> RecordedTransaction {
        var transaction = try Samples.fullTransaction(.max)
        transaction.kind = ProductKind(rawValue: text)
        transaction.storefront = text
        transaction.offer?.identifier = text
        transaction.revocation?.type = text
        transaction.price = Price(milliunits: 1, currency: text)
        return try Samples.recorded(transaction)
    }
}
