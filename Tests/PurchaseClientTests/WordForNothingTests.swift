import Foundation
import PurchaseClient
import Synchronization
import Testing

/// What an earlier version wrote down under a name that is none, such as `null`: it took any, and no server takes it now.
@Suite struct WordForNothingTests {
    static let refused = OutboxTests.refusal("not_yours", secondsAgo: 1)

    /// Writes down a purchase as it was, and what had become of it.
    private static func write(_ sold: StorePurchase, of customer: String, _ since: [Outbox.Change], _ phone: Phone)
        throws
    {
        let file = try OutboxFile(PaperDisk.Storage(phone.disk))
        var outbox = Outbox()
        for change in [.queue(parcel(sold, of: customer))] + since {
            outbox.apply(change)
            try file.write(change, leadingTo: outbox)
        }
    }

    private static func parcel(_ sold: StorePurchase, of customer: String) -> Parcel {
        Parcel(id: sold.id, proof: sold.proof, customer: customer, order: "order-1", at: OutboxTests.now)
    }

    /// Sends to the phone's server, and notes what.
    private static func noting(_ bodies: Bodies, _ phone: Phone) -> Transport {
        Transport { request in
            bodies.append(String(decoding: request.body, as: UTF8.self))
            return try await phone.transport.send(request)
        }
    }

    /// The store brings it, and the app is asked whose it is, as of anything new.
    @Test(arguments: ["null", "None"], [[], [OutboxTests.pending], [refused]])
    func itIsWhoseTheAppSaysNow(name: String, since: [Outbox.Change]) throws {
        let (phone, bodies) = (Phone(seed: 11), Bodies())
        let sold = phone.sell(isForged: false)
        try Self.write(sold, of: name, since, phone)
        try PurchaseClientTests.run(phone, transport: Self.noting(bodies, phone)) { client in
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
        }
        #expect(bodies.all.first == Self.parcel(sold, of: "anna").body)
        #expect(bodies.all.allSatisfy { !$0.contains(name) })
    }

    /// Nothing is sent of it before, and its app hears that it is nobody's. Whoever signs in has it.
    @Test func untilThenItWaits() throws {
        let (phone, events, bodies) = (Phone(seed: 12), Noted(), Bodies())
        let isSignedIn = Mutex(false)
        let sold = phone.sell(isForged: false)
        try Self.write(sold, of: "null", [OutboxTests.pending], phone)
        let customer: @Sendable (StorePurchase) -> String? = { _ in isSignedIn.withLock(\.self) ? "anna" : "null" }
        try PurchaseClientTests.run(phone, events, customer: customer, transport: Self.noting(bodies, phone)) {
            client in
            await phone.time.sleep(10_000)
            #expect(bodies.all == [])
            #expect(await client.unfinished.count == 1)
            isSignedIn.withLock { $0 = true }
            await client.wake()
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
        }
        #expect(events.all.contains(.unclaimed(purchase: sold.id, accountToken: nil)))
    }

    /// What the server has recorded under such a name is finished, and nobody is asked.
    @Test func whatIsRecordedIsFinished() throws {
        let (phone, bodies) = (Phone(seed: 13), Bodies())
        try Self.write(phone.sell(isForged: false), of: "null", [OutboxTests.confirmed], phone)
        phone.state.withLock { _ = $0.confirmed.insert("1") }
        let customer: @Sendable (StorePurchase) -> String? = { _ in nil }
        try PurchaseClientTests.run(phone, customer: customer, transport: Self.noting(bodies, phone)) { client in
            while await !client.unfinished.isEmpty { await phone.time.sleep(1) }
        }
        #expect(bodies.all == [] && phone.unfinished.isEmpty)
    }

    /// Whatever the app says, what was refused may be given up.
    @Test func whatIsRefusedIsGivenUp() throws {
        let phone = Phone(seed: 14)
        try Self.write(phone.sell(isForged: true), of: "null", [Self.refused], phone)
        // Nothing says that it is recorded; it is given up all the same.
        phone.state.withLock { _ = $0.confirmed.insert("1") }
        let customer: @Sendable (StorePurchase) -> String? = { _ in nil }
        try PurchaseClientTests.run(phone, customer: customer) { client in
            await phone.time.sleep(10)
            await client.giveUp("1")
            #expect(await client.unfinished == [] && phone.unfinished.isEmpty)
        }
    }
}

/// What was sent.
private final class Bodies: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock(\.self) }

    func append(_ text: String) { texts.withLock { $0.append(text) } }
}
