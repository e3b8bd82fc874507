import PurchaseModel
import Storage
import TestSupport
import Testing

/// Values are bound where they lie if they are short, and copied if they are long: each comes back as it was written, whatever
/// was written by the same statement before.
@Suite struct KeptValueTests {
    /// A proof's row has seven values, and room for 448 bytes of short ones.
    @Test(arguments: StoreKind.allCases)
    func proofsOfEveryLengthComeBackAsTheyWere(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var random = SeededRandom(seed: 448)
            let lengths = [1, 5_000, 2, 400, 0, 449, 3, 9_000, 448, 64] + Array(330...460)
            var written: [(key: TransactionKey, evidence: EvidenceRow)] = []
            for (number, length) in lengths.enumerated() {
                let evidence = try Samples.evidence(random.bytes(length), customer: number % 2 == 0 ? "ann" : nil)
                let recording = Recording(
                    app: try Samples.app(),
                    realm: Samples.production,
                    transactions: [try Samples.fullTransaction(Int64(number + 1))],
                    customer: try Samples.customer("c\(number % 10)")
                )
                let decisions = try await Purchases.record([recording], evidence, in: store)
                written.append((try #require(decisions.first?.outcomes.first).recorded.key, evidence))
            }
            for (key, evidence) in written {
                let found = try await store.read { reader throws(StoreFailure) in try reader.evidence(of: key) }
                #expect(found == evidence)
            }
        }
    }
}
