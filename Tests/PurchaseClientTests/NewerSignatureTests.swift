import Foundation
import PurchaseClient
import Synchronization
import Testing

/// What Apple signs anew while an older signature over the same transaction is on its way: a refund, say.
@Suite struct NewerSignatureTests {
    /// What comes before the server says that it has recorded the older one.
    enum Way: CaseIterable {
        case confirmed
        case pending
    }

    private static let submission = String(repeating: "0", count: 32)

    private static func answer(_ status: Int, _ text: String) -> Transport.Answer {
        Transport.Answer(status: status, fields: [:], body: Array(text.utf8))
    }

    /// Has the store bring the transaction with another signature.
    private static func signAnew(_ phone: Phone, _ client: PurchaseClient) async {
        phone.state.withLock { $0.sold[0].proof = "newer-1" }
        await client.wake()
        await phone.time.sleep(5)
    }

    @Test(arguments: Way.allCases) func isSentBeforeTheStoreIsTold(way: Way) throws {
        let phone = Phone(seed: 14)
        let isBrought = Mutex(false)
        let sent = Mutex<[String]>([])
        let transport = Transport { request in
            while !isBrought.withLock(\.self) { await phone.time.sleep(1) }
            let isFirst = sent.withLock(\.isEmpty)
            #expect(phone.unfinished.count == 1)
            if request.method == "GET" { return Self.answer(200, #"{"result":"decided"}"#) }
            sent.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
            if isFirst, way == .pending {
                return Self.answer(202, #"{"result":"pending","submission_id":"\#(Self.submission)"}"#)
            }
            return try await phone.transport.send(request)
        }
        try PurchaseClientTests.run(phone, transport: transport) { client in
            let sold = phone.sell(isForged: false)
            try await client.submit(sold, customer: "anna", order: "order-1")
            while await client.unfinished.first?.state != .sending { await phone.time.sleep(1) }
            await Self.signAnew(phone, client)
            // The older one once more makes it no older.
            try await client.submit(sold, customer: "anna", order: "order-1")
            isBrought.withLock { $0 = true }
            while await !client.unfinished.isEmpty { await phone.time.sleep(1) }
        }
        let bodies = sent.withLock(\.self)
        #expect(bodies.last?.contains("newer-1") == true)
        #expect(bodies.dropLast().allSatisfy { $0.contains("proof-1") } && bodies.count == (way == .pending ? 3 : 2))
        #expect(bodies.allSatisfy { $0.contains("order-1") && $0.contains("anna") })
        #expect(phone.unfinished.isEmpty)
    }

    /// It is not left to the store, which brings it again when it likes.
    @Test(arguments: UInt64(0)..<5) func isSentAfterTheOlderOneIsRefused(seed: UInt64) throws {
        let phone = Phone(seed: seed)
        let isBrought = Mutex(false)
        let transport = Transport { request in
            while !isBrought.withLock(\.self) { await phone.time.sleep(1) }
            guard String(decoding: request.body, as: UTF8.self).contains("newer-1") else {
                return Self.answer(422, #"{"code":"refused","verdict":"forged","reason":"not_authentic"}"#)
            }
            return try await phone.transport.send(request)
        }
        try PurchaseClientTests.run(phone, transport: transport) { client in
            try await client.submit(phone.sell(isForged: false), customer: "anna")
            while await client.unfinished.first?.state != .sending { await phone.time.sleep(1) }
            await Self.signAnew(phone, client)
            isBrought.withLock { $0 = true }
            let began = phone.time.now
            while !phone.unfinished.isEmpty { await phone.time.sleep(1) }
            #expect(phone.time.now - began < 20)
        }
    }

    /// The store brings it some time after the older one was refused, and is refused as well: the older one is over.
    @Test func isSentOnceAfterTheOlderOneWasRefused() throws {
        let phone = Phone(seed: 3)
        let sent = Mutex<[String]>([])
        let transport = Transport { request in
            sent.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
            return Self.answer(422, #"{"code":"refused","verdict":"malformed","reason":"unrecognised"}"#)
        }
        try PurchaseClientTests.run(phone, transport: transport) { client in
            try await client.submit(phone.sell(isForged: false), customer: "anna")
            await phone.time.sleep(5)
            for _ in 0..<3 { await Self.signAnew(phone, client) }
        }
        let bodies = sent.withLock(\.self)
        #expect(bodies.map { $0.contains("newer-1") } == [false, true])
    }
}
