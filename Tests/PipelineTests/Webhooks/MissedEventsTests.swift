import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// What an endpoint is not sent while it is disabled, and is offered when it is enabled again.
@Suite struct MissedEventsTests {
    /// Each row: how long after it was disabled it is enabled; how many events there were meanwhile, and what a replay of what
    /// it missed sends again.
    @Test(arguments: [(0, 0), (1, 2), (86_400, 5)])
    func whatWasMissedIsSentByAReplay(seconds: Int, count: Int) async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 3)
        let sender = shop.sender { _ in .ok }
        await sender.deliverDue()
        #expect(try await shop.setEnabled(false) == nil)
        for number in 4..<4 + count {
            try await shop.store.write { write throws(StoreFailure) in
                try write.append([StoredWebhookShop.event(number)])
            }
        }
        shop.clock.advance(by: .seconds(seconds))
        let missed = try #require(try await shop.setEnabled(true))
        // Whoever did not hear of it asks once more, later, and is told the same.
        shop.clock.advance(by: .seconds(5))
        #expect(try await shop.setEnabled(true) == missed)
        let endpoint = try #require(try await shop.found())
        #expect(endpoint.isEnabled && endpoint.disabledAt == nil && endpoint.missedAfter == nil)
        // A part of it, or what is dead, is not all of it; nor is what stands behind another endpoint's place.
        let all = WebhookReplay.learned(from: missed.from, to: missed.to)
        for replay in [.dead, .learned(from: missed.from, to: StoredWebhookShop.start), all] {
            _ = try await shop.replay(replay, after: EventCursor(position: 1_000))
            #expect(try await shop.found().flatMap(MissedEvents.init(of:)) == missed)
        }
        let step = try await shop.replay(all, after: missed.after)
        #expect(step == WebhookReplayStep(replayed: count, next: nil))
        #expect(try await shop.setEnabled(true) == nil)
        await sender.deliverDue()
        #expect(shop.inbox.ids() == (1..<4 + count).map { "evt_\($0)" })
    }

    /// Its owner may have no time for the offer before the receiver is gone once more. What is delivered between comes once.
    @Test func theOfferGrowsUntilItIsSent() async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 3)
        let sender = shop.sender { _ in .ok }
        await sender.deliverDue()
        var offers: [MissedEvents] = []
        for event in [4, 6, 8] {
            #expect(try await shop.setEnabled(false) == nil)
            try await shop.store.write { write throws(StoreFailure) in
                try write.append([StoredWebhookShop.event(event)])
            }
            shop.clock.advance(by: .seconds(100))
            offers.append(try #require(try await shop.setEnabled(true)))
            try await shop.store.write { write throws(StoreFailure) in
                try write.append([StoredWebhookShop.event(event + 1)])
            }
            await sender.deliverDue()
            shop.clock.advance(by: .seconds(100))
        }
        #expect(offers.map(\.from) == [offers[0].from, offers[0].from, offers[0].from])
        #expect(offers.map(\.after) == [offers[0].after, offers[0].after, offers[0].after])
        #expect(offers.map { $0.to.seconds - offers[0].to.seconds } == [0, 200, 400])
        let last = offers[2]
        let step = try await shop.replay(.learned(from: last.from, to: last.to), after: last.after)
        #expect(step == WebhookReplayStep(replayed: 3, next: nil))
        await sender.deliverDue()
        #expect(shop.inbox.ids() == [1, 2, 3, 5, 7, 9, 4, 6, 8].map { "evt_\($0)" })
        // Whoever asks for more than the offer wants all of it again.
        let more = WebhookReplay.learned(from: last.from.advanced(by: .seconds(-1)), to: last.to)
        #expect(try await shop.replay(more, after: last.after).replayed == 6)
        // What it misses from now on is another offer.
        #expect(try await shop.setEnabled(false) == nil)
        #expect(try await shop.setEnabled(true)?.after == EventCursor(position: 9))
    }

    /// Who leaves off between two steps finds the offer where it stands, and is sent nothing twice.
    @Test func theOfferGoesOnWhereItsLastStepEnded() async throws {
        let shop = StoredWebhookShop()
        try await shop.prepare(events: 3)
        let first = try #require(try await shop.missing(4...2_503))
        let replay = WebhookReplay.learned(from: first.from, to: first.to)
        let step = try await shop.replay(replay, after: first.after)
        #expect(step == WebhookReplayStep(replayed: 1_000, next: EventCursor(position: 1_003)))
        // A place before the offer's is one from which all of it is reached; the offer does not go back.
        _ = try await shop.replay(replay, after: .start)
        var (replayed, steps) = (step.replayed, 1)
        while steps < 9, let missed = try await shop.found().flatMap(MissedEvents.init(of:)) {
            #expect(
                missed.from == first.from && missed.to == first.to && missed.after.position == Int64(steps) * 1_000 + 3
            )
            replayed += try await shop.replay(replay, after: missed.after).replayed
            steps += 1
        }
        #expect(replayed == 2_500 && steps == 3)
    }
}
