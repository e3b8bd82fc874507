import API
import Encoding
import HTTP
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// An answer of verifyReceipt is signed by nobody: whoever sends one says what Apple is to be asked about, and nothing that
/// the other protocols may tell as bought.
@Suite struct MadeUpAnswerTests {
    private static let demo = "com.example.demo"

    /// Asks, has what waits found genuine, as the job does whose receipt or number Apple knows, and asks again.
    private static func answer(
        to proof: String,
        of customer: String?,
        knowing sold: [Transaction] = []
    ) async throws -> JSONObject {
        let store = MemoryStore()
        let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app(demo, .production))
        let house = try TestHouse(store: store)
        return try await house.open { house in
            if !sold.isEmpty {
                let receipt = try signer.receipt(sold, createdAt: TestHouse.now)
                let text = String(decoding: Base64.encode(receipt, .standard, isPadded: true), as: UTF8.self)
                #expect(await house.submit(text, customer: "anna").status == .ok)
            }
            #expect(await validate(house, proof, customer).status == .serviceUnavailable)
            let app = try #require(AppID("demo"))
            try await store.write { write throws(StoreFailure) in
                for kept in try write.pendingSubmissions(app: app, after: nil, limit: 10).submissions {
                    _ = try write.settlePending(kept.id, as: Settlement(verdict: "genuine", at: TestHouse.now))
                }
            }
            return try await validate(house, proof, customer).json()
        }
    }

    private static func ask(
        _ house: TestHouse,
        _ proof: String,
        _ customer: String?,
        at path: String = "/verifyReceipt"
    ) async -> HTTPResponse {
        let body = JSONWriter.object { json in
            json.member("receipt-data", proof)
            json.member("password", TestHouse.key)
            json.member("customer_id", customer)
        }
        let request = HTTPRequest(method: .post, path: path, fields: [:], body: body)
        return await house.router.respond(to: request)
    }

    private static func validate(_ house: TestHouse, _ proof: String, _ customer: String?) async -> HTTPResponse {
        let body = JSONWriter.object { json in
            json.member("id", demo)
            json.member("type", "application")
            json.object("additionalData") { $0.member("applicationUsername", customer) }
            json.object("transaction") { json in
                json.member("type", "ios-appstore")
                json.member("id", demo)
                json.member("appStoreReceipt", proof)
            }
        }
        let fields: HTTPFields = ["Content-Type": "application/json", "Authorization": "Bearer \(TestHouse.key)"]
        let request = HTTPRequest(method: .post, path: "/validator", fields: fields, body: body)
        return await house.router.respond(to: request)
    }

    private static func madeUp(_ entry: String, latest: String? = nil) -> String {
        let latest = latest.map { #", "latest_receipt": "\#($0)""# } ?? ""
        return #"{"status": 0, "receipt": {"bundle_id": "\#(demo)", "in_app": [\#(entry)]}\#(latest)}"#
    }

    private static let invention = #"""
        {"product_id": "com.example.demo.sword", "transaction_id": "9600", "quantity": "10",
         "purchase_date_ms": "1763600000000", "expires_date_ms": "4000000000000", "web_order_line_item_id": "7"}
        """#

    /// Her number with another product, and an empty receipt beside an invention: she has what the ledger has.
    @Test func whatWasMadeUpIsNotTold() async throws {
        let coins = try Sample.transaction(9_600)
        let own = try await Self.answer(to: Self.madeUp(Self.invention), of: "anna", knowing: [coins])
        let data = try #require(own["data"]?.object)
        let inApp = try #require(data["transaction"]?.object?["in_app"]?.array).compactMap(\.object)
        #expect(inApp.map { $0["product_id"]?.string } == ["com.example.demo.coins"])
        #expect(inApp.first?["quantity"]?.string == "1")
        let collection = try #require(data["collection"]?.array).compactMap(\.object)
        #expect(collection.map { $0["id"]?.string } == ["com.example.demo.coins"])

        let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app(Self.demo, .production))
        let empty = Base64.encode(try signer.receipt([], createdAt: TestHouse.now), .standard, isPadded: true)
        let beside = Self.madeUp(Self.invention, latest: String(decoding: empty, as: UTF8.self))
        let none = try #require(try await Self.answer(to: beside, of: "eve")["data"]?.object)
        #expect(none["transaction"]?.object?["in_app"]?.array?.isEmpty == true)
        #expect(none["collection"]?.array?.isEmpty == true)
    }

    /// A number alone tells what the ledger has of it, to whose it is.
    @Test(arguments: [("anna", true), ("eve", false)])
    func aNumberTellsWhatIsKnown(customer: String, isHers: Bool) async throws {
        let answer = try await Self.answer(to: "9601", of: customer, knowing: [try Sample.transaction(9_601)])
        #expect(answer["ok"]?.bool == isHers)
        let inApp = answer["data"]?.object?["transaction"]?.object?["in_app"]?.array
        #expect((inApp?.count ?? 0) == (isHers ? 1 : 0))
    }

    /// As at Apple's, what nobody has signed is no receipt, whoever's purchase it names: nothing is kept, and nobody asks.
    @Test(arguments: [nil, "anna", "eve"]) func whatNobodyHasSignedIsNoReceipt(customer: String?) async throws {
        try await TestHouse().open { house in
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app(Self.demo, .production))
            let coins = try Sample.transaction(9_600)
            let receipt = try signer.receipt([coins], createdAt: TestHouse.now)
            let text = String(decoding: Base64.encode(receipt, .standard, isPadded: true), as: UTF8.self)
            #expect(await house.submit(text, customer: "anna").status == .ok)
            let made = Self.madeUp(Self.invention)
            let unsigned = [
                "9600", " 9600\n", "170000029449420", made, Self.madeUp(Self.invention, latest: text),
                String(decoding: Base64.encode(Array(made.utf8), .standard, isPadded: true), as: UTF8.self),
                #"{"notification_type": "CANCEL", "original_transaction_id": "9600"}"#,
            ]
            for proof in unsigned {
                for path in ["/verifyReceipt", "/sandbox/verifyReceipt"] {
                    let answer = await Self.ask(house, proof, customer, at: path)
                    #expect(answer.status == .ok)
                    #expect(try answer.json()["status"]?.int64 == 21_002, "\(path) \(proof.prefix(20))")
                }
            }
            let figures = try await house.store.read { reader throws(StoreFailure) in try reader.figures() }
            #expect(figures.submissions == 0)
            // Each refusal is counted, and written with the next purchase. It is not held against who asks elsewhere.
            #expect(
                await house.submit(try signer.transaction(try Sample.transaction(9_601)), customer: "anna").status
                    == .ok
            )
            let refusals = try await house.store.read { reader throws(StoreFailure) in
                try reader.refusalTotals(since: HourOfTime(number: 0), limit: 20)
            }
            #expect(refusals.reduce(0) { $0 + $1.count } == unsigned.count * 2, "\(refusals)")
            #expect(await house.submit("9600", customer: "anna").status == .accepted)
            // What Apple has signed is answered as ever.
            for proof in [text, try signer.transaction(coins)] {
                let status = try await Self.ask(house, proof, customer).json()["status"]?.int64
                #expect(status == (customer == "eve" ? 21_010 : 0))
            }
        }
    }

    /// What no calendar has is left out, also where Apple should sign it.
    @Test func momentsBeyondAllCalendarsEndNothing() async throws {
        try await TestHouse().open { house in
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app(Self.demo, .production))
            for (place, milliseconds) in [Int64.min, .max, -1, 253_402_300_800_000].enumerated() {
                var sold = try Sample.transaction(Int64(9_610 + place))
                sold.purchasedAt = Timestamp(milliseconds: milliseconds)
                let proof = try signer.transaction(sold)
                #expect(await Self.ask(house, proof, "anna").status == .ok)
                #expect(await Self.validate(house, proof, "anna").status == .ok)
            }
        }
    }

    /// What is somebody's is not told as bought to who says no name, or one that nobody can have.
    @Test func whatIsSomebodysCountsForNobodyWithoutAName() async throws {
        try await TestHouse().open { house in
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app(Self.demo, .production))
            let receipt = try signer.receipt([try Sample.transaction(9_602)], createdAt: TestHouse.now)
            let text = String(decoding: Base64.encode(receipt, .standard, isPadded: true), as: UTF8.self)
            #expect(try await Self.validate(house, text, nil).json()["ok"]?.bool == true)
            #expect(try await Self.validate(house, text, "anna").json()["ok"]?.bool == true)
            for name in [nil, "", "two words", "eve"] {
                #expect(try await Self.validate(house, text, name).json()["ok"]?.bool == false, "\(name ?? "-")")
            }
            // Whoever holds a secret key may ask without a name, and is told when a name is wrong.
            #expect(try await Self.ask(house, text, nil).json()["status"]?.int64 == 0)
            #expect(try await Self.ask(house, text, "anna").json()["status"]?.int64 == 0)
            #expect(try await Self.ask(house, text, "eve").json()["status"]?.int64 == 21_010)
        }
    }
}
