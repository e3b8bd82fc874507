import Foundation
import PurchaseClient
import Testing

@Suite struct OutboxTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)

    static func parcel(
        _ id: String = "1",
        proof: String = "p",
        customer: String = "anna",
        order: String? = nil,
        at: Date = now
    ) -> Parcel {
        Parcel(id: id, proof: proof, customer: customer, order: order, at: at)
    }

    static func refusal(_ verdict: String, secondsAgo: Double) -> Outbox.Change {
        .refuse(id: "1", Refusal(verdict: verdict, reason: "r", at: now.addingTimeInterval(-secondsAgo)))
    }

    static let confirmed = Outbox.Change.confirm(id: "1", Confirmation(decision: .recorded, at: now))
    static let pending = Outbox.Change.wait(id: "1", submission: String(repeating: "0", count: 32))

    /// What was so, what comes, and what is written down of it.
    static let arrivals: [(known: [Outbox.Change], comes: Parcel, change: Outbox.Change?)] = [
        ([], parcel(), .queue(parcel())),
        ([.queue(parcel("2"))], parcel(), .queue(parcel())),
        // On its way: the same, a newer signature, somebody else who has signed in since.
        ([.queue(parcel())], parcel(), nil),
        ([.queue(parcel())], parcel(proof: "q"), nil),
        ([.queue(parcel())], parcel(customer: "ben"), nil),
        ([.queue(parcel())], parcel(customer: "ben", order: "o"), nil),
        ([.queue(parcel()), pending], parcel(proof: "q"), nil),
        // Its order is named only now, or no longer.
        ([.queue(parcel())], parcel(order: "o"), .queue(parcel(order: "o"))),
        ([.queue(parcel()), pending], parcel(order: "o"), .queue(parcel(order: "o"))),
        ([.queue(parcel()), confirmed], parcel(order: "o"), .queue(parcel(order: "o"))),
        ([.queue(parcel(order: "o"))], parcel(order: "o"), nil),
        ([.queue(parcel(order: "o"))], parcel(), nil),
        // Confirmed, and not known to be finished.
        ([.queue(parcel()), confirmed], parcel(), nil),
        ([.queue(parcel()), confirmed], parcel(customer: "ben"), nil),
        ([.queue(parcel()), confirmed], parcel(proof: "q"), .queue(parcel(proof: "q"))),
        ([.queue(parcel(order: "o")), confirmed], parcel(proof: "q"), .queue(parcel(proof: "q", order: "o"))),
        ([.queue(parcel()), confirmed], parcel(proof: "q", customer: "ben"), .queue(parcel(proof: "q"))),
        // Finished, and brought again all the same.
        ([.queue(parcel()), confirmed, .forget(id: "1")], parcel(), .queue(parcel())),
        // Refused: by what the shop may have mended meanwhile, and by what the server itself may have learned.
        ([.queue(parcel()), refusal("forged", secondsAgo: 86_399)], parcel(), nil),
        ([.queue(parcel()), refusal("forged", secondsAgo: 86_400)], parcel(), .requeue(id: "1")),
        ([.queue(parcel()), refusal("malformed", secondsAgo: 86_399)], parcel(), nil),
        ([.queue(parcel()), refusal("malformed", secondsAgo: 86_400)], parcel(), .requeue(id: "1")),
        ([.queue(parcel()), refusal("forged", secondsAgo: -60)], parcel(), .requeue(id: "1")),
        ([.queue(parcel()), refusal("not_yours", secondsAgo: 3_599)], parcel(), nil),
        ([.queue(parcel()), refusal("not_yours", secondsAgo: 3_600)], parcel(), .requeue(id: "1")),
        ([.queue(parcel()), refusal("not_yours", secondsAgo: -60)], parcel(), .requeue(id: "1")),
        ([.queue(parcel()), refusal("forged", secondsAgo: 1)], parcel(proof: "q"), .queue(parcel(proof: "q"))),
        (
            [.queue(parcel(order: "o")), refusal("not_yours", secondsAgo: 1)], parcel(proof: "q"),
            .queue(parcel(proof: "q", order: "o"))
        ),
        (
            [.queue(parcel(order: "o")), refusal("not_yours", secondsAgo: 1)], parcel(proof: "q", order: "n"),
            .queue(parcel(proof: "q", order: "n"))
        ),
        ([.queue(parcel()), refusal("forged", secondsAgo: 1)], parcel(customer: "b"), .queue(parcel(customer: "b"))),
        (
            [.queue(parcel(order: "o")), refusal("forged", secondsAgo: 1)], parcel(proof: "q", customer: "b"),
            .queue(parcel(proof: "q", customer: "b"))
        ),
        // What was written down under a word for nothing was nobody's; its order stays.
        ([.queue(parcel(customer: "null"))], parcel(), .queue(parcel())),
        (
            [.queue(parcel(customer: "NaN", order: "o")), pending], parcel(proof: "q"),
            .queue(parcel(proof: "q", order: "o"))
        ),
        ([.queue(parcel(customer: "null", order: "o"))], parcel(order: "n"), .queue(parcel(order: "n"))),
        (
            [.queue(parcel(customer: "null", order: "o")), refusal("not_yours", secondsAgo: 1)], parcel(),
            .queue(parcel(order: "o"))
        ),
        ([.queue(parcel(customer: "null")), confirmed], parcel(), nil),
        ([.queue(parcel(customer: "null")), confirmed], parcel(customer: "null"), nil),
        ([.queue(parcel(customer: "null")), confirmed], parcel(proof: "q"), .queue(parcel(proof: "q"))),
    ]

    @Test(arguments: arrivals.indices)
    func whatComesAgainIsKnown(row: Int) {
        let (known, comes, change) = Self.arrivals[row]
        var outbox = Outbox()
        for change in known { outbox.apply(change) }
        #expect(outbox.arrival(of: comes, at: Self.now) == change)
    }

    @Test func whatIsDueIsTakenInOrderAndOnce() {
        var outbox = Outbox()
        for id in ["3", "1", "2"] { outbox.apply(.queue(Self.parcel(id))) }
        outbox.apply(.confirm(id: "1", Confirmation(decision: nil, at: Self.now)))
        #expect(outbox.next { _ in true }?.id == "3")
        outbox.start("3")
        #expect(outbox["3"]?.state == .sending)
        #expect(outbox.shown.map(\.state.isDecided) == [false, true, false])
        #expect(outbox.next { _ in true }?.id == "2")
        #expect(outbox.next { $0 == "3" } == nil)
        outbox.stop("3")
        #expect(outbox.next { $0 == "3" }?.id == "3")
        // A newer body does not lose its place.
        outbox.apply(.queue(Self.parcel("3", order: "o")))
        #expect(outbox.waiting.map(\.id) == ["3", "2"])
    }

    @Test func whatIsKnownOfRefusalsIsBounded() {
        var outbox = Outbox()
        for number in 0..<Outbox.refusedMax + 3 {
            outbox.apply(.queue(Self.parcel(String(number))))
            let refusal = Refusal(verdict: "forged", reason: "", at: Self.now)
            if number != 1 { outbox.apply(.refuse(id: String(number), refusal)) }
        }
        #expect(outbox.forgettable == [.forget(id: "0"), .forget(id: "2")])
    }

    @Test(arguments: UInt64(0)..<100)
    func theFewestChangesLeadToTheSame(seed: UInt64) {
        let chance = Chance(seed: seed)
        var outbox = Outbox()
        for _ in 0..<30 { outbox.apply(OutboxFileTests.change(outbox, chance)) }
        var again = Outbox()
        for change in outbox.changes { again.apply(change) }
        #expect(again == outbox)
        #expect(again.entries.map(\.body) == outbox.entries.map(\.body))
    }
}

@Suite struct PacingTests {
    private static let (least, most) = (UInt64.min, UInt64.max)

    /// Seconds until it is due, after so many failures.
    private func pause(_ failures: Int, isTemporary: Bool, retryAfter: Double? = nil, random: UInt64) -> Double {
        var pacing = Pacing()
        for _ in 0..<failures {
            pacing.postpone("1", isTemporary: isTemporary, retryAfter: retryAfter, at: 50, random: random)
        }
        return (pacing.next(of: ["1"]) ?? 0) - 50
    }

    @Test(arguments: [(1, 1), (2, 2), (3, 4), (10, 512), (11, 600), (5_000, 600)])
    func pausesDoubleUpToTheLongest(failures: Int, seconds: Double) {
        #expect(pause(failures, isTemporary: true, random: Self.least) == seconds / 2)
        #expect(abs(pause(failures, isTemporary: true, random: Self.most) - seconds) < 0.001)
    }

    @Test(arguments: [(1, 60), (2, 120), (7, 3_600), (5_000, 3_600)])
    func whatSomebodyMustMendIsTriedRarely(failures: Int, seconds: Double) {
        #expect(pause(failures, isTemporary: false, random: Self.least) == seconds / 2)
    }

    @Test(arguments: [(0, 0.5), (0.2, 0.5), (30, 30), (86_400, 86_400), (1e12, 86_400)])
    func theServersPauseIsKeptTo(asked: Double, seconds: Double) {
        #expect(pause(1, isTemporary: true, retryAfter: asked, random: Self.least) == seconds)
        let late = pause(1, isTemporary: true, retryAfter: asked, random: Self.most)
        #expect(late >= seconds && late <= seconds + 60.5)
    }

    /// It is the server that is busy, not the purchase.
    @Test func theServersPauseHoldsForAll() {
        var pacing = Pacing()
        #expect(pacing.isDue("2", at: 50))
        pacing.postpone("1", isTemporary: true, retryAfter: 30, at: 50, random: 0)
        #expect(!pacing.isDue("2", at: 79) && pacing.isDue("2", at: 80))
        pacing.wake()
        #expect(!pacing.isDue("1", at: 79) && pacing.isDue("1", at: 80))
    }

    @Test func onesOwnPauseIsOnesOwn() {
        var pacing = Pacing()
        for _ in 0..<9 { pacing.postpone("1", isTemporary: true, retryAfter: nil, at: 50, random: 0) }
        #expect(!pacing.isDue("1", at: 60) && pacing.isDue("2", at: 60))
        pacing.hasten("1")
        #expect(pacing.isDue("1", at: 60))
        pacing.postpone("1", isTemporary: true, retryAfter: nil, at: 60, random: 0)
        #expect(pacing.next(of: ["1"]) == 316.0)
        pacing.wake()
        #expect(pacing.isDue("1", at: 60))
    }
}
