import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// A genuine receipt in which no purchase stands is looked into later, and says already that there is none: who asks by
/// another protocol is told so, whether or not there is a place for it to wait in.
@Suite struct EmptyReceiptTests {
    private enum Full: CaseIterable {
        case nobody
        case customer
        case app

        var limits: (app: Int, customer: Int) {
            switch self {
            case .nobody: (9, 9)
            case .customer: (9, 1)
            case .app: (1, 9)
            }
        }
    }

    private static func receipt(isBroken: Bool = false) throws -> String {
        let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo", .production))
        var bytes = try signer.receipt([], createdAt: TestHouse.now)
        if isBroken { bytes[bytes.count - 10] ^= 1 }
        return String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
    }

    private static func verifyReceipt(_ house: TestHouse, _ receipt: String) async -> HTTPResponse {
        let body = JSONWriter.object { json in
            json.member("receipt-data", receipt)
            json.member("password", TestHouse.key)
            json.member("customer_id", "customer-1")
        }
        return await house.router.respond(to: HTTPRequest(method: .post, path: "/verifyReceipt", body: body))
    }

    private static func validate(_ house: TestHouse, _ receipt: String) async -> HTTPResponse {
        let body = JSONWriter.object { json in
            json.member("id", "com.example.demo")
            json.object("additionalData") { $0.member("applicationUsername", "customer-1") }
            json.object("transaction") { json in
                json.member("type", "ios-appstore")
                json.member("appStoreReceipt", receipt)
            }
        }
        return await house.change("/validator", String(decoding: body, as: UTF8.self))
    }

    @Test(arguments: Full.allCases) private func itNeedsNoPlace(full: Full) async throws {
        let limits = TestHouse.limits(pendingPerApp: full.limits.app, pendingPerCustomer: full.limits.customer)
        try await TestHouse(limits: limits).open { house in
            #expect(await house.submit("170000029449420").status == .accepted)
            // What needs one is told to come again.
            #expect(await Self.verifyReceipt(house, try Sample.withoutStore(1)).status == .serviceUnavailable)
            let refused: HTTPStatus = full == .customer ? .tooManyRequests : .serviceUnavailable
            #expect(await Self.validate(house, "170000029449421").status == refused)

            let verified = await Self.verifyReceipt(house, try Self.receipt())
            #expect(verified.status == .ok)
            #expect(try verified.json()["status"]?.int64 == 0)
            #expect(try #require(verified.json()["receipt"]?.object?["in_app"]?.array).isEmpty)
            let validated = await Self.validate(house, try Self.receipt())
            #expect(validated.status == .ok)
            #expect(try validated.json()["ok"]?.bool == true)
            #expect(try #require(validated.json()["data"]?.object?["collection"]?.array).isEmpty)
        }
    }

    /// With a signature that does not hold it is refused as ever.
    @Test func onlyAGenuineOneIsAnswered() async throws {
        try await TestHouse(limits: TestHouse.limits(pendingPerApp: 0)).open { house in
            let broken = try Self.receipt(isBroken: true)
            #expect(try await Self.verifyReceipt(house, broken).json()["status"]?.int64 == 21_003)
            #expect(try await Self.validate(house, broken).json()["ok"]?.bool == false)
            #expect(try await Self.verifyReceipt(house, try Self.receipt()).json()["status"]?.int64 == 0)
        }
    }
}
