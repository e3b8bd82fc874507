import PurchaseModel
import Storage
import Testing

/// Counts and samples of what was refused.
@Suite struct RefusalTests {
    @Test(arguments: [
        (Int64(0), Int64(0)), (3_599_999, 0), (3_600_000, 1), (-1, -1), (-3_600_000, -1), (-3_600_001, -2),
        (.max, 2_562_047_788_015), (.min, -2_562_047_788_016),
    ])
    func anHourBeginsWithItsFirstMillisecond(milliseconds: Int64, hour: Int64) {
        #expect(HourOfTime(containing: Timestamp(milliseconds: milliseconds)).number == hour)
    }

    @Test(arguments: StoreKind.allCases)
    func countsAddUpAndAreListedInOrder(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let game = try Samples.app("game")
            let zoo = try Samples.app("Zoo")
            let keys = [
                Self.key(1, nil, "b"), Self.key(1, zoo, "a"), Self.key(1, game, "a"), Self.key(1, game, "b"),
                Self.key(2, nil, "a"),
            ]
            // First written in another order than they are listed in.
            for round in 1...3 {
                try await store.write { transaction throws(StoreFailure) in
                    for (place, key) in keys.enumerated().reversed() {
                        try transaction.addRefusals(counts: [key: place + round], samples: [])
                    }
                    try transaction.addRefusals(counts: [Self.key(3, nil, "none"): 0], samples: [])
                }
            }
            let found = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.refusalCounts(since: HourOfTime(number: 0), limit: 100),
                    try reader.refusalCounts(since: HourOfTime(number: 2), limit: 100),
                    try reader.refusalCounts(since: HourOfTime(number: 0), limit: 2)
                )
            }
            let expected = keys.enumerated().map { RefusalCount(key: $0.element, count: $0.offset * 3 + 6) }
            #expect(found.0 == expected)
            #expect(found.1 == expected.suffix(1))
            #expect(found.2 == Array(expected.prefix(2)))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func totalsAreOfEachAppAndReasonTheMostFirst(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (game, zoo) = (try Samples.app("game"), try Samples.app("Zoo"))
            let counts = [
                Self.key(1, game, "a"): 2, Self.key(4, game, "a"): 3, Self.key(2, zoo, "a"): 5,
                Self.key(3, nil, "b"): 5,
                Self.key(3, game, "b"): 9,
            ]
            let found = try await store.write { transaction throws(StoreFailure) in
                try transaction.addRefusals(counts: counts, samples: [])
                return [
                    try transaction.refusalTotals(since: HourOfTime(number: 0), limit: 100),
                    try transaction.refusalTotals(since: HourOfTime(number: 3), limit: 2),
                ]
            }
            let hours = (1...4).map { HourOfTime(number: $0) }
            let first = RefusalTotal(app: game, reason: "b", count: 9, first: hours[2], last: hours[2])
            let none = RefusalTotal(app: nil, reason: "b", count: 5, first: hours[2], last: hours[2])
            #expect(
                found == [
                    [
                        first, none, RefusalTotal(app: zoo, reason: "a", count: 5, first: hours[1], last: hours[1]),
                        RefusalTotal(app: game, reason: "a", count: 5, first: hours[0], last: hours[3]),
                    ],
                    [first, none],
                ]
            )
            #expect(hours[0].start == Timestamp(milliseconds: 3_600_000))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theNewestSamplesAreKept(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let samples = try (0..<1_100).map { try Self.sample($0) }
            try await store.write { transaction throws(StoreFailure) in
                try transaction.addRefusals(counts: [:], samples: Array(samples.prefix(50)))
            }
            let few = try await store.read { reader throws(StoreFailure) in try reader.refusalSamples(limit: 100) }
            #expect(few == samples.prefix(50).reversed())
            try await store.write { transaction throws(StoreFailure) in
                for sample in samples.dropFirst(50) { try transaction.addRefusals(counts: [:], samples: [sample]) }
            }
            let many = try await store.read { reader throws(StoreFailure) in try reader.refusalSamples(limit: .max) }
            #expect(many == samples.suffix(100).reversed())
            // More at once than are kept.
            try await store.write { transaction throws(StoreFailure) in
                try transaction.addRefusals(counts: [:], samples: samples)
            }
            let last = try await store.read { reader throws(StoreFailure) in try reader.refusalSamples(limit: 1) }
            #expect(last == samples.suffix(1))
        }
    }

    /// A number is found as a whole, and so is everybody's own.
    @Test(arguments: StoreKind.allCases)
    func samplesAreFoundByWhomTheyNameAndWhatTheyClaim(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (game, zoo, ann) = (try Samples.app("game"), try Samples.app("Zoo"), try Samples.customer("ann"))
            let rows: [(app: AppID?, customer: String?, claimed: [Int64])] = [
                (game, "ann", [12, 34, 12]), (game, "bob", [123, 4]), (zoo, "ann", [12]), (nil, "ann", [12]),
                (game, nil, []), (game, "ann", [1, 34]),
            ]
            let samples = try rows.enumerated().map { place, row in
                RefusalSample(
                    app: row.app,
                    reason: "untrusted",
                    customer: try row.customer.map { try Samples.customer($0) },
                    receivedAt: Timestamp(milliseconds: Int64(place)),
                    digest: try Samples.digest(UInt8(place % 4)),
                    bytesInAll: 1,
                    proof: [1],
                    format: place == 0 ? nil : "app_receipt",
                    claimed: row.claimed.compactMap { TransactionID(number: $0) }
                )
            }
            try await store.write { write throws(StoreFailure) in
                try write.addRefusals(counts: [:], samples: samples)
            }
            let twelve = try #require(TransactionID(number: 12))
            let asked: [(RefusalSubject, limit: Int, found: [Int])] = [
                (.customer(game, ann), 9, [5, 0]), (.customer(game, ann), 0, [5]), (.customer(zoo, ann), 9, [2]),
                (.transaction(game, twelve), 9, [0]), (.transaction(zoo, twelve), 9, [2]),
                (.transaction(game, try #require(TransactionID(number: 34))), 9, [5, 0]),
                (.transaction(game, try #require(TransactionID(number: 2))), 9, []),
                (.customer(try Samples.app("none"), ann), 9, []),
                (.proof(try Samples.digest(1)), 9, [5, 1]), (.proof(try Samples.digest(9)), 9, []),
            ]
            for (subject, limit, places) in asked {
                let found = try await store.read { reader throws(StoreFailure) in
                    try reader.refusalSamples(of: subject, limit: limit)
                }
                #expect(found == places.map { samples[$0] }, "\(subject)")
            }
            #expect(samples[0].claimed.map(\.number) == [12, 34])
        }
    }

    @Test func aSampleKeepsTheBeginningOfALargeProof() throws {
        let sample = try Self.sample(1, proof: [UInt8](repeating: 1, count: 20_000))
        #expect(sample.proof.count == RefusalSample.bytesMax)
        #expect(sample.bytesInAll == 20_000)
    }

    private static func key(_ hour: Int64, _ app: AppID?, _ reason: String) -> RefusalKey {
        RefusalKey(hour: HourOfTime(number: hour), app: app, reason: reason)
    }

    private static func sample(_ number: Int, proof: [UInt8] = [1, 2]) throws -> RefusalSample {
        RefusalSample(
            app: number % 2 == 0 ? nil : try Samples.app(),
            reason: "untrusted",
            customer: number % 3 == 0 ? nil : try Samples.customer("c\(number)"),
            receivedAt: Timestamp(milliseconds: Int64(number)),
            digest: try Samples.digest(UInt8(number % 256)),
            bytesInAll: proof.count,
            proof: proof
        )
    }
}
