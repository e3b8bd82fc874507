import Encoding
import HTTP
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// What Apple sends, and what it is answered.
@Suite struct NotificationTests {
    private static let path = "/v1/apple/notifications/demo"
    private static let uuid = "5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a1"

    private static func signer(_ bundleID: String = "com.example.demo") throws -> PurchaseSigner {
        PurchaseSigner(TestAuthority.shared, app: try Sample.app(bundleID))
    }

    private static func body(
        _ type: String,
        subtype: String? = nil,
        uuid: String = uuid,
        transaction: Transaction? = nil,
        bundleID: String = "com.example.demo"
    ) throws -> [UInt8] {
        var notice = Notice(uuid: uuid, type: type, signedAt: TestHouse.now)
        notice.subtype = subtype
        notice.transaction = transaction
        return try signer(bundleID).notificationBody(notice)
    }

    /// Every type is kept, whether we know it or not: Apple adds some, and repeats what is not answered with 200.
    @Test(
        arguments: [
            ("TEST", nil), ("SUBSCRIBED", "INITIAL_BUY"), ("DID_RENEW", nil), ("CONSUMPTION_REQUEST", nil),
            ("A_TYPE_OF_TOMORROW", "AND_ITS_SUBTYPE"),
        ] as [(String, String?)]
    )
    func eachIsKeptAsItCame(type: String, subtype: String?) async throws {
        try await TestHouse().open { house in
            let body = try Self.body(type, subtype: subtype)
            let answer = await house.send(body, to: Self.path)
            #expect(answer.status == .ok)
            #expect(try answer.json()["result"]?.string == "kept")
            let listing = try await house.get("/v1/notifications").json()
            let listed = try #require(listing["notifications"]?.array)
            let first = try #require(listed.first { _ in true }?.object)
            #expect(listed.count == 1)
            #expect(first["type"]?.string == type)
            #expect(first["subtype"]?.string == subtype)
            #expect(first["notification_uuid"]?.string == Self.uuid)
            #expect(first["id"]?.string == "\(Self.uuid).sandbox.test")
            #expect(first["arrival"]?.string == "pushed")
            let one = try await house.get("/v1/notifications/\(Self.uuid).sandbox.test").json()
            let payload = try #require(one["payload"]?.string)
            #expect(try Base64.decode(Array(payload.utf8), .standard, padding: .required) == body)
            // Nobody else's key finds it.
            let foreign = await house.get("/v1/notifications/\(Self.uuid).sandbox.test", key: TestHouse.otherKey)
            #expect(foreign.status == .notFound)
        }
    }

    @Test func whatItProvesIsRecordedOnce() async throws {
        try await TestHouse().open { house in
            let body = try Self.body("ONE_TIME_CHARGE", transaction: try Sample.transaction(7_001))
            #expect(try await house.send(body, to: Self.path).json()["result"]?.string == "kept")
            let events = try await house.get("/v1/events").json()["events"]?.array?.count
            #expect(try await house.get("/v1/transactions/7001").first("product_id") == "com.example.demo.coins")
            for _ in 0..<3 {
                let again = await house.send(body, to: Self.path)
                #expect(again.status == .ok)
                #expect(try again.json()["result"]?.string == "already_kept")
            }
            #expect(try await house.get("/v1/events").json()["events"]?.array?.count == events)
            // The customer who brings it later has it.
            let brought = await house.submit(try Sample.jws(7_001))
            #expect(try brought.first("decision") == "recorded")
        }
    }

    /// Apple's order is not that of the signatures: an older fact takes nothing of a newer one back.
    @Test func anOlderNotificationUndoesNoRefund() async throws {
        try await TestHouse().open { house in
            let later = TestHouse.now.advanced(by: .seconds(60))
            let refund = try Self.body(
                "REFUND",
                transaction: try Sample.transaction(7_002, revokedAt: later, signedAt: later)
            )
            let charge = try Self.body(
                "ONE_TIME_CHARGE",
                uuid: "00000000-3d0b-4d4e-9a4e-2d1bb6b2f3a1",
                transaction: try Sample.transaction(7_002)
            )
            for body in [refund, charge, refund] { #expect(await house.send(body, to: Self.path).status == .ok) }
            #expect(try await house.submit(try Sample.jws(7_002)).first("decision") == "revoked")
        }
    }

    @Test func whatIsNoNotificationOfTheAppIsRefused() async throws {
        try await TestHouse().open { house in
            let good = try Self.body("TEST")
            var tampered = good
            // In the signature.
            let place = tampered.count - 20
            tampered[place] = tampered[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let transaction = JSONWriter.object { $0.member("signedPayload", "x") }
            let jws = try Sample.jws(7_003)
            let rows: [([UInt8], String)] = [
                (tampered, "not_authentic"), (try Self.body("TEST", bundleID: "com.example.other"), "not_for_this_app"),
                (JSONWriter.object { $0.member("signedPayload", jws) }, "unreadable"), (transaction, "unreadable"),
                (Array("{}".utf8), "unreadable"), ([], "unreadable"),
                // Good as a question to Apple, not as word from it.
                (Array("2000000123456789".utf8), "unreadable"),
            ]
            for (body, reason) in rows {
                for _ in 0..<2 {
                    let answer = await house.send(body, to: Self.path)
                    #expect(answer.status == .unprocessableContent)
                    #expect(try answer.json()["reason"]?.string == reason, "\(String(decoding: body, as: UTF8.self))")
                }
            }
            #expect(await house.send(good, to: "/v1/apple/notifications/nobody").status == .notFound)
            #expect(try await house.get("/v1/notifications").json()["notifications"]?.array?.count == 0)
            #expect(await house.get("/v1/transactions/7003").status == .notFound)
        }
    }

    @Test func aTestAuthoritysNotificationCountsOnlyWhereItMay() async throws {
        try await TestHouse(acceptsTestSigned: false).open { house in
            let answer = await house.send(try Self.body("TEST"), to: Self.path)
            #expect(answer.status == .unprocessableContent)
            #expect(try answer.json()["reason"]?.string == "test_purchase")
        }
    }

    @Test func theFiguresTellWhatWasCompared() async throws {
        try await TestHouse().open { house in
            #expect(try await house.get("/v1/notifications/figures").json()["stores"]?.array?.count == 0)
            let watch = NotificationWatch(
                app: try #require(AppID("demo")),
                realm: Realm(environment: .sandbox, isTestSigned: true),
                comparedUntil: TestHouse.now,
                sent: 5,
                arrived: 4,
                recovered: 1
            )
            try await house.store.write { write throws(StoreFailure) in try write.noteWatch(watch) }
            let stores = try #require(try await house.get("/v1/notifications/figures").json()["stores"]?.array)
            let found = try #require(stores.first { _ in true }?.object)
            #expect(stores.count == 1)
            #expect(found["environment"]?.string == "sandbox" && found["test_signed"]?.bool == true)
            #expect((found["sent"]?.int64, found["arrived"]?.int64, found["recovered"]?.int64) == (5, 4, 1))
            let other = try await house.get("/v1/notifications/figures", key: TestHouse.otherKey).json()
            #expect(other["stores"]?.array?.count == 0)
        }
    }

    /// Version 1 is not signed: the secret tells who sent it, and only the receipt in it proves a purchase.
    @Test func ofVersionOneTheReceiptCounts() async throws {
        try await TestHouse().open { house in
            let receipt = try Self.signer().receipt([try Sample.transaction(7_004)], createdAt: TestHouse.now)
            let text = String(decoding: Base64.encode(receipt, .standard, isPadded: true), as: UTF8.self)
            let body = Self.old(password: TestHouse.sharedSecret, receipt: text)
            for result in ["kept", "already_kept"] {
                #expect(try await house.send(body, to: Self.path).json()["result"]?.string == result)
            }
            #expect(try await house.get("/v1/transactions/7004").first("product_id") == "com.example.demo.coins")
            let listed = try await house.get("/v1/notifications").json()["notifications"]?.array
            #expect(listed?.first { _ in true }?.object?["version"]?.int64 == 1)
            // What only the secret vouches for is kept, and proves nothing.
            let bare = Self.old(password: TestHouse.sharedSecret, receipt: nil)
            #expect(try await house.send(bare, to: Self.path).json()["result"]?.string == "kept")

            let wrong = String(TestHouse.sharedSecret.reversed())
            for password in [wrong, "", "x"] {
                let answer = await house.send(Self.old(password: password, receipt: text), to: Self.path)
                #expect(answer.status == .unprocessableContent)
                #expect(try answer.json()["reason"]?.string == "not_authentic")
            }
            let other = await house.send(body, to: "/v1/apple/notifications/other")
            #expect(other.status == .serviceUnavailable)
            #expect(try other.json()["code"]?.string == "needs_shared_secret")
            #expect(other.fields["Retry-After"] == "3600")
        }
    }

    /// Its `password` is the app's shared secret: who may read what came is not told it, however the name is written.
    @Test(arguments: [#""password""#, #""p\u0061ssword""#, #""\u0070assword" "#])
    func ofVersionOneAllButTheSecretIsShown(name: String) async throws {
        try await TestHouse().open { house in
            let body = Self.old(password: TestHouse.sharedSecret, receipt: nil)
            let sent = String(decoding: body, as: UTF8.self).replacing(#""password""#, with: name)
            #expect(try await house.send(Array(sent.utf8), to: Self.path).json()["result"]?.string == "kept")
            let listing = await house.get("/v1/notifications")
            let listed = try #require(try listing.json()["notifications"]?.array)
            let id = try #require(listed.first { _ in true }?.object?["id"]?.string)
            let one = await house.get("/v1/notifications/\(id)")
            let payload = try #require(try one.json()["payload"]?.string)
            let bytes = try Base64.decode(Array(payload.utf8), .standard, padding: .required)
            let shown = String(decoding: bytes, as: UTF8.self)
            #expect(shown == sent.replacing(TestHouse.sharedSecret, with: ""))
            let figures = await house.get("/v1/notifications/figures")
            for answer in [listing, one, figures] {
                #expect(!String(decoding: answer.body, as: UTF8.self).contains(TestHouse.sharedSecret))
            }
            // It is kept as it came: sent again, it is known.
            #expect(try await house.send(Array(sent.utf8), to: Self.path).json()["result"]?.string == "already_kept")
        }
    }

    @Test(arguments: [#"{"notification_type":"CANCEL","password":"SECRET""#, #"{"password":"SECRET"}"#, "SECRET"])
    func whatCannotBeReadOfVersionOneIsNotShown(payload: String) async throws {
        try await TestHouse().open { house in
            let row = KeptNotification(
                key: NotificationKey(
                    app: try #require(AppID("demo")),
                    realm: Realm(environment: .sandbox, isTestSigned: false),
                    id: try #require(NotificationID("v1-0"))
                ),
                version: 1,
                type: "CANCEL",
                arrival: .pushed,
                signedAt: TestHouse.now,
                receivedAt: TestHouse.now,
                payload: Array(payload.utf8)
            )
            _ = try await house.store.write { write throws(StoreFailure) in try write.keepNotification(row) }
            let one = await house.get("/v1/notifications/v1-0.sandbox")
            #expect(one.status == .ok)
            #expect(try one.json()["type"]?.string == "CANCEL")
            #expect(try one.json()["payload"] == nil)
        }
    }

    private static func old(password: String, receipt: String?) -> [UInt8] {
        JSONWriter.object { json in
            json.member("notification_type", "INITIAL_BUY")
            json.member("password", password)
            json.member("environment", "Sandbox")
            json.member("bid", "com.example.demo")
            json.object("unified_receipt") { json in
                json.member("environment", "Sandbox")
                json.member("status", 0)
                json.member("latest_receipt", receipt)
            }
        }
    }
}

extension TestHouse {
    /// As Apple does: no key, no headers of ours.
    func send(_ body: [UInt8], to path: String) async -> HTTPResponse {
        let fields: HTTPFields = ["Content-Type": "application/json"]
        return await router.respond(to: HTTPRequest(method: .post, path: path, fields: fields, body: body))
    }
}
