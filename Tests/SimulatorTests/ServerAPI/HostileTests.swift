import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// Whatever is sent to an endpoint, the answer is one of Apple's errors, or a good one.
@Suite struct ServerAPIHostileTests {
    private static let endpoints: [(method: HTTPMethod, path: String)] = [
        (.get, "/inApps/v1/subscriptions/@"), (.get, "/inApps/v2/history/@"), (.get, "/inApps/v1/history/@"),
        (.get, "/inApps/v1/transactions/@"), (.get, "/inApps/v1/transactions/appTransactions/@"),
        (.put, "/inApps/v1/transactions/@/appAccountToken"), (.post, "/inApps/v1/transactions/@/finish"),
        (.put, "/inApps/v2/transactions/consumption/@"), (.put, "/inApps/v1/transactions/consumption/@"),
        (.get, "/inApps/v1/lookup/@"), (.get, "/inApps/v2/refund/lookup/@"), (.get, "/inApps/v1/refund/lookup/@"),
        (.put, "/inApps/v1/subscriptions/extend/@"), (.post, "/inApps/v1/subscriptions/extend/mass"),
        (.get, "/inApps/v1/subscriptions/extend/mass/@/@"), (.post, "/inApps/v1/notifications/test"),
        (.get, "/inApps/v1/notifications/test/@"), (.post, "/inApps/v1/notifications/history"),
        (.get, "/groups/v1/currentGroups/@"), (.get, "/groups/v1/group/@"),
    ]

    private static let segments = [
        "0", "00", "-0", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1e9", "0x10", "١٢",
        "%D9%A1", "a%2Fb", "%27", "null", "true", String(repeating: "9", count: 4_000), "%E2%80%AE", "1%3B", "{id}",
        "7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11", "month",
    ]

    private static let names = [
        "revision", "startDate", "endDate", "productId", "productType", "subscriptionGroupIdentifier", "status",
        "inAppOwnershipType", "revoked", "excludeRevoked", "sort", "paginationToken", "limit",
    ]

    private static let members = [
        "customerConsented", "sampleContentProvided", "deliveryStatus", "consumptionPercentage", "refundPreference",
        "accountTenure", "appAccountToken", "extendByDays", "extendReasonCode", "requestIdentifier", "productId",
        "storefrontCountryCodes", "startDate", "endDate", "notificationType", "notificationSubtype", "transactionId",
        "onlyFailures",
    ]

    private static let values = [
        "null", "true", "1", "-1", "9223372036854775807", "-9223372036854775808", "1e400", "1E-400", "0.5", "\"\"",
        "\"x\"", "\"\\u0000\"", "\"\\ud800\"", "[]", "{}", "[[[[]]]]", "\"7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11\"",
        "\"DID_RENEW\"", "1749988700000", "[\"USA\"]", "\"month\"", "\"DELIVERED\"",
    ]

    @Test(arguments: UInt64(0)..<40) func nothingBreaks(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let shop = try Shop(seed: seed)
        let id = try shop.buy("month")
        for endpoint in Self.endpoints {
            let path = endpoint.path.utf8.map { byte -> String in
                guard byte == UInt8(ascii: "@") else { return String(UnicodeScalar(byte)) }
                return Bool.random(using: &random) ? id.description : Self.pick(Self.segments, &random)
            }.joined()
            let request = HTTPRequest(
                method: endpoint.method,
                path: "/sandbox" + path,
                query: Self.query(&random),
                fields: ["Authorization": "Bearer " + (try Shop.Token().text())],
                body: Self.body(&random)
            )
            let response = await shop.router.respond(to: request)
            try check(response, request)
        }
    }

    private func check(_ response: HTTPResponse, _ request: HTTPRequest) throws {
        if response.status == .ok || response.status == .accepted { return }
        let object = try response.object()
        let code = try #require(object["errorCode"]?.int64, "\(request.path)")
        #expect(code != 5_000_000)
        #expect(response.status.rawValue == Int(code) / 10_000)
        #expect(ServerAPIError(rawValue: Int(code))?.message == object["errorMessage"]?.string)
    }

    private static func query(_ random: inout SeededRandom) -> String? {
        switch random.next() % 4 {
        case 0: return nil
        case 1: return String(decoding: random.bytes(40).map { $0 & 0x7F }, as: UTF8.self)
        default:
            return (0..<3).map { _ in
                pick(names, &random) + "=" + pick(segments + ["%", "%F", "%FF", "%00", "+", "=", ""], &random)
            }.joined(separator: "&")
        }
    }

    private static func body(_ random: inout SeededRandom) -> [UInt8] {
        switch random.next() % 8 {
        case 0: return []
        case 1: return random.bytes(64)
        case 2: return Array((String(repeating: "[", count: 100_000)).utf8)
        case 3: return Array("{\"a\":".utf8) + [0xFF, 0xFE, 0x00] + Array("}".utf8)
        case 4: return Array((String(repeating: "{\"a\":", count: 17) + "1" + String(repeating: "}", count: 17)).utf8)
        default:
            let written = Set((0..<8).map { _ in pick(members, &random) }).sorted().map {
                "\"\($0)\":\(pick(values, &random))"
            }
            return Array("{\(written.joined(separator: ","))}".utf8)
        }
    }

    private static func pick(_ list: [String], _ random: inout SeededRandom) -> String {
        list[Int(random.next() % UInt64(list.count))]
    }
}
