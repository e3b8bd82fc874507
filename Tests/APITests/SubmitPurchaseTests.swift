import Encoding
import HTTP
import PurchaseModel
import Simulator
import Storage
import Testing
import TestSupport

@Suite struct SubmitPurchaseTests {
    @Test func aGenuinePurchaseIsRecordedAndItsRepetitionGivesTheSameTransactions() async throws {
        try await TestHouse().open { house in
            let proof = try Sample.jws(2_000_000_000_000_001)
            let first = await house.submit(proof, order: "order-1")
            #expect(first.status == .ok)
            #expect(try first.json()["result"]?.string == "recorded")
            #expect(try first.first("transaction_id") == "2000000000000001")
            #expect(try first.first("decision") == "recorded")
            #expect(try first.first("order_id") == "order-1")
            #expect(try first.first("environment") == "sandbox")
            house.clock.advance(by: .seconds(60))
            let again = await house.submit(proof, order: "order-1")
            #expect(again.status == .ok)
            #expect(try again.json()["result"]?.string == "already_recorded")
            #expect(
                try again.json()["transactions"].map { Array($0.raw) }
                    == first.json()["transactions"].map { Array($0.raw) }
            )
        }
    }

    @Test func everyFormatIsTakenByTheSameDoor() async throws {
        try await TestHouse().open { house in
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app())
            let purchases = try [11, 12, 13].map { try Sample.transaction($0) }
            let receipt = try signer.receipt(purchases, createdAt: TestHouse.now)
            let base64 = String(decoding: Base64.encode(receipt, .standard, isPadded: true), as: UTF8.self)
            let answer = await house.submit(base64)
            #expect(answer.status == .ok)
            #expect(try answer.json()["transactions"]?.array?.count == 3)

            let old = try signer.oldReceipt(Sample.transaction(1_000_000_000_000_014), version: .two)
            let oldAnswer = await house.submit(String(decoding: old, as: UTF8.self))
            #expect(oldAnswer.status == .ok, "\(String(decoding: oldAnswer.body, as: UTF8.self))")
            #expect(try oldAnswer.first("transaction_id") == "1000000000000014")

            var notice = Notice(
                uuid: "b7a1b5cc-6f3a-4c8e-8a53-1c1f6a6b1a01",
                type: "DID_RENEW",
                signedAt: TestHouse.now
            )
            notice.transaction = try Sample.transaction(2_000_000_000_000_015)
            let body = String(decoding: try signer.notificationBody(notice), as: UTF8.self)
            let noticeAnswer = await house.submit(body)
            #expect(noticeAnswer.status == .ok)
            #expect(try noticeAnswer.first("transaction_id") == "2000000000000015")

            let page = await house.get("/v1/customers/customer-1/transactions")
            #expect(try page.json()["transactions"]?.array?.count == 5)
        }
    }

    @Test func aThousandParallelPostsOfOneTransactionMakeOneRow() async throws {
        try await TestHouse().open { house in
            let proof = try Sample.jws(2_000_000_000_000_021)
            let answers = await withTaskGroup(of: HTTPResponse.self, returning: [HTTPResponse].self) { group in
                for _ in 0..<1_000 { group.addTask { await house.submit(proof) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == .ok })
            let results = try answers.map { try $0.json()["result"]?.string }
            #expect(results.count { $0 == "recorded" } == 1)
            #expect(results.count { $0 == "already_recorded" } == 999)
            #expect(Set(try answers.map { try $0.json()["transactions"].map { Array($0.raw) } }).count == 1)
            let figures = try await house.store.read { reader throws(StoreFailure) in try reader.figures() }
            #expect(figures.transactions == 1)
            #expect(figures.evidence == 1)
        }
    }

    @Test func whatIsRefusedWritesNothingAndTellsLittle() async throws {
        let foreign = try Sample.jws(31, bundleID: "com.example.stranger")
        let flipped = try Sample.jws(32).replacingLast()
        let rows: [(proof: String, verdict: String, reason: String)] = [
            (foreign, "not_yours", "not_for_this_app"),
            (flipped, "forged", "not_authentic"),
            ("Y29tLnVydXMuaWFwLjIyMjkwNDQw", "forged", "not_authentic"),
            ("hello", "malformed", "unreadable"),
            ("", "malformed", "unreadable"),
        ]
        try await TestHouse().open { house in
            for row in rows {
                for _ in 0..<2 {
                    let answer = await house.submit(row.proof)
                    #expect(answer.status == .unprocessableContent)
                    #expect(answer.fields["Content-Type"] == "application/problem+json")
                    #expect(answer.fields["Retry-After"] == nil)
                    let json = try answer.json()
                    #expect(json["verdict"]?.string == row.verdict)
                    #expect(json["reason"]?.string == row.reason)
                    #expect(json["code"]?.string == "refused")
                    #expect(json["checks"] == nil && json["detail"]?.string?.contains("signature") == false)
                }
            }
            let figures = try await house.store.read { reader throws(StoreFailure) in try reader.figures() }
            #expect(figures == StoreFigures())
        }
    }

    @Test func whatOnlyATestAuthoritySignedIsRefusedUnlessTheAppSaysOtherwise() async throws {
        try await TestHouse(acceptsTestSigned: false).open { house in
            let answer = await house.submit(try Sample.jws(41))
            #expect(answer.status == .unprocessableContent)
            #expect(try answer.json()["verdict"]?.string == "test_signed")
            #expect(try answer.json()["reason"]?.string == "test_purchase")
        }
        try await TestHouse(trustsSimulator: false).open { house in
            let answer = await house.submit(try Sample.jws(42))
            #expect(try answer.json()["verdict"]?.string == "forged")
        }
        try await TestHouse().open { house in
            let xcode = await house.submit(try Sample.jws(43, environment: .xcode))
            #expect(try xcode.json()["verdict"]?.string == "not_yours", "Xcode is no environment of this app")
        }
    }

    @Test func aRefundIsNeverUndoneByAnOlderProof() async throws {
        try await TestHouse().open { house in
            let later = TestHouse.now.advanced(by: .seconds(3_600))
            let bought = try Sample.jws(51)
            let refunded = try Sample.jws(51, revokedAt: later, signedAt: later)
            #expect(try await house.submit(bought).first("decision") == "recorded")
            #expect(try await house.submit(refunded).first("decision") == "revoked")
            #expect(try await house.submit(bought).first("decision") == "revoked")
            let reversed = try Sample.jws(51, signedAt: later.advanced(by: .seconds(3_600)))
            #expect(try await house.submit(reversed).first("decision") == "recorded")
        }
    }

    @Test func anotherCustomerGetsNothingFromAPurchaseThatIsNotTheirs() async throws {
        try await TestHouse().open { house in
            let proof = try Sample.jws(61)
            _ = await house.submit(proof, customer: "alice", order: "order-9")
            let answer = await house.submit(proof, customer: "mallory")
            #expect(answer.status == .ok)
            #expect(try answer.first("decision") == "owned_by_another_customer")
            #expect(try answer.first("customer_id") == nil)
            #expect(try answer.first("order_id") == nil)
            let page = await house.get("/v1/customers/mallory/transactions")
            #expect(try page.json()["transactions"]?.array?.count == 0)
        }
    }

    /// An app pages through its customer's purchases, and learns of no number by asking from where on.
    @Test func aPageBeginsBehindHerOwnPurchasesAlone() async throws {
        try await TestHouse().open { house in
            for number in Int64(62)...63 { _ = await house.submit(try Sample.jws(number), customer: "alice") }
            _ = await house.submit(try Sample.jws(64), customer: "bob")
            func page(_ customer: String, after cursor: String?) async throws -> HTTPResponse {
                let query = "limit=1" + (cursor.map { "&after=\($0)" } ?? "")
                return await house.get("/v1/customers/\(customer)/transactions", query: query)
            }
            let first = try await page("alice", after: nil)
            #expect(try first.first("transaction_id") == "63")
            let next = try #require(try first.json()["next"]?.string)
            #expect(try await page("alice", after: next).first("transaction_id") == "62")
            let (others, unknown) = (next.replacing("63", with: "64"), next.replacing("63", with: "65"))
            let answers = [try await page("alice", after: others), try await page("alice", after: unknown)]
            #expect(answers.map(\.status) == [.badRequest, .badRequest])
            #expect(answers[0].body == answers[1].body)
            #expect(try await page("bob", after: next).status == .badRequest)
        }
    }

    @Test func aProofForOneProductDoesNotPayForAnother() async throws {
        try await TestHouse().open { house in
            let proof = try Sample.jws(71, product: "com.example.demo.cheap")
            let answer = await house.submit(proof, product: "com.example.demo.dear")
            #expect(answer.status == .unprocessableContent)
            #expect(try answer.json()["reason"]?.string == "other_product")
            let honest = await house.submit(proof, product: "com.example.demo.cheap")
            #expect(honest.status == .ok, "the same proof is not remembered as refused")
        }
    }

    @Test func aKeyReachesOnlyItsOwnApp() async throws {
        try await TestHouse().open { house in
            _ = await house.submit(try Sample.jws(81))
            #expect(await house.get("/v1/transactions/81").status == .ok)
            #expect(await house.get("/v1/transactions/81", key: TestHouse.otherKey).status == .notFound)
            let page = await house.get("/v1/customers/customer-1/transactions", key: TestHouse.otherKey)
            #expect(try page.json()["transactions"]?.array?.count == 0)
            let answer = await house.submit(try Sample.jws(82), key: TestHouse.otherKey)
            #expect(try answer.json()["verdict"]?.string == "not_yours")
        }
    }
}

extension String {
    /// The text with its last character changed into another one of base64url.
    fileprivate func replacingLast() -> String {
        var bytes = Array(utf8)
        // Not the last character: its low bits may be unused. The one before it is fully signed over.
        bytes[bytes.count - 2] = bytes[bytes.count - 2] == 0x41 ? 0x42 : 0x41
        return String(decoding: bytes, as: UTF8.self)
    }
}
