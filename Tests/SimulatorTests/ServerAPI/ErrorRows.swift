import HTTP
import PurchaseModel
import Testing

/// A request, and the error that Apple answers; without one it is good.
struct ErrorRow: Sendable, CustomTestStringConvertible {
    var method = HTTPMethod.get
    var path: String
    var query: String?
    var body = ""
    var environment = StoreEnvironment.sandbox
    let code: Int?

    var testDescription: String { "\(method) \(path)?\(query ?? "") \(body) → \(code ?? 200)" }

    // What stands in paths for ids that each test has anew.

    /// A subscription's original transaction.
    static let month = UInt8(ascii: "*")
    static let coins = UInt8(ascii: "!")
    /// The subscription's second period.
    static let renewed = UInt8(ascii: "$")
    /// A family member's first transaction.
    static let copy = UInt8(ascii: "&")
    /// An app transaction.
    static let download = UInt8(ascii: "@")
    /// A transaction of another app.
    static let foreign = UInt8(ascii: "~")

    static let all = [
        paths.flatMap(idRows), queries, history, accountTokens, finishing, consumption, firstConsumption, extensions,
        massExtensions, extensionStatus,
    ].flatMap(\.self)

    private typealias Bodies = [(id: String, body: String, code: Int?)]

    static let uuid = "7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11"

    // MARK: Reading

    private static let paths = [
        "/inApps/v1/subscriptions/", "/inApps/v2/history/", "/inApps/v1/history/", "/inApps/v1/transactions/",
        "/inApps/v1/transactions/appTransactions/", "/inApps/v2/refund/lookup/", "/groups/v1/currentGroups/",
    ]

    private static func idRows(_ path: String) -> [ErrorRow] {
        let downloadCode = path == "/inApps/v1/transactions/" ? 4_000_048 : nil
        return [
            ErrorRow(path: path + "x", code: 4_000_006), ErrorRow(path: path + "-1", code: 4_000_006),
            ErrorRow(path: path + "12345678901234567890", code: 4_000_006),
            ErrorRow(path: path + "%E2%80%8B1", code: 4_000_006), ErrorRow(path: path + "1", code: 4_040_010),
            ErrorRow(path: path + "9999999999999999999", code: 4_040_010),
            ErrorRow(path: path + "*", environment: .production, code: 4_040_010),
            ErrorRow(path: path + "~", code: 4_040_010), ErrorRow(path: path + "!", code: nil),
            ErrorRow(path: path + "@", code: downloadCode),
        ]
    }

    private static let queries = [
        ErrorRow(path: "/inApps/v1/subscriptions/*", query: "status=0", code: 4_000_031),
        ErrorRow(path: "/inApps/v1/subscriptions/*", query: "status=1&status=6", code: 4_000_031),
        ErrorRow(path: "/inApps/v1/subscriptions/*", query: "status=%31", code: nil),
        ErrorRow(path: "/inApps/v1/lookup/M%20", environment: .production, code: 4_000_000),
        ErrorRow(path: "/inApps/v1/refund/lookup/x", code: 4_000_008),
        ErrorRow(path: "/inApps/v1/refund/lookup/$", code: 4_040_005),
        ErrorRow(path: "/inApps/v1/refund/lookup/*", code: nil),
        ErrorRow(path: "/inApps/v2/refund/lookup/*", query: "revision=x", code: 4_000_005),
        ErrorRow(path: "/groups/v1/group/x", code: 4_000_225), ErrorRow(path: "/groups/v1/group/1", code: 4_040_022),
        ErrorRow(path: "/groups/v1/group/1", query: "limit=101", code: 4_000_226),
        ErrorRow(path: "/groups/v1/group/1", query: "paginationToken=x", code: 4_000_014),
        ErrorRow(path: "/groups/v1/group/900000000000000000", environment: .production, code: 4_040_022),
    ]

    private static let historyQueries: [(String, Int?)] = [
        ("revision=x", 4_000_005), ("revision=0", nil), ("revision=0&revision=0", 4_000_005),
        ("startDate=x", 4_000_015), ("startDate=-1", 4_000_015), ("startDate=99999999999999999999", 4_000_015),
        ("startDate=%2B1", 4_000_015), ("startDate=1.0", 4_000_015), ("startDate=", 4_000_015),
        ("endDate=1e3", 4_000_016), ("startDate=2&endDate=2", 4_000_015), ("startDate=1&endDate=2", nil),
        ("sort=ASC", 4_000_021), ("sort=DESCENDING", nil), ("productType=auto", 4_000_022),
        ("productType=CONSUMABLE&productType=NON_RENEWABLE", nil), ("productId=", 4_000_023),
        ("productId=%FF", 4_000_023), ("productId=a%20b", 4_000_023), ("productId=nobody", nil),
        ("subscriptionGroupIdentifier=x", 4_000_024), ("excludeRevoked=yes", 4_000_025),
        ("inAppOwnershipType=OWNED", 4_000_026), ("inAppOwnershipType=ASSIGNED", nil),
        ("inAppOwnershipType=PURCHASED&inAppOwnershipType=PURCHASED", 4_000_026), ("revoked=1", 4_000_030),
        ("revoked=%", 4_000_030), ("unknown=1&&=&%ZZ=1", nil),
    ]

    private static let history = historyQueries.flatMap { query, code in
        ["/inApps/v1/history/*", "/inApps/v2/history/*"].map { ErrorRow(path: $0, query: query, code: code) }
    }

    // MARK: One transaction

    private static let accountTokenBodies: Bodies = [
        ("*", #"{"appAccountToken":"\#(uuid)"}"#, nil), ("!", #"{"appAccountToken":"\#(uuid)"}"#, nil),
        ("x", #"{"appAccountToken":"\#(uuid)"}"#, 4_000_006), ("1", #"{"appAccountToken":"\#(uuid)"}"#, 4_040_010),
        ("~", #"{"appAccountToken":"\#(uuid)"}"#, 4_040_010), ("$", #"{"appAccountToken":"\#(uuid)"}"#, 4_000_187),
        ("&", #"{"appAccountToken":"\#(uuid)"}"#, 4_000_185), ("*", #"{"appAccountToken":"x"}"#, 4_000_183),
        ("*", #"{"appAccountToken":""}"#, 4_000_183), ("*", #"{"appAccountToken":1}"#, 4_000_183),
        ("*", "{}", 4_000_183), ("*", "", 4_000_000), ("*", "[]", 4_000_000),
    ]

    private static let accountTokens = accountTokenBodies.map { id, body, code in
        ErrorRow(method: .put, path: "/inApps/v1/transactions/\(id)/appAccountToken", body: body, code: code)
    }

    private static let finishIDs: [(String, Int?)] = [("x", 4_000_006), ("1", 4_040_010), ("@", 4_000_048), ("&", nil)]

    private static let finishing = finishIDs.map { id, code in
        ErrorRow(method: .post, path: "/inApps/v1/transactions/\(id)/finish", code: code)
    }

    // MARK: Consumption

    private static func told(_ changes: String = "") -> String {
        #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED"\#(changes)}"#
    }

    private static func undelivered(_ percentage: Int) -> String {
        """
        {"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":"UNDELIVERED_OTHER",\
        "consumptionPercentage":\(percentage)}
        """
    }

    private static let consumptionBodies: Bodies = [
        ("!", told(), nil), ("*", told(), nil), ("x", told(), 4_000_006), ("1", told(), 4_040_010),
        ("@", told(), 4_000_048), ("&", told(), 4_000_185), ("!", "{}", 4_000_035), ("!", "null", 4_000_000),
        ("!", #"{"customerConsented":false}"#, 4_000_035), ("!", #"{"customerConsented":"true"}"#, 4_000_035),
        ("!", #"{"customerConsented":true}"#, 4_000_041),
        ("!", #"{"customerConsented":true,"sampleContentProvided":0}"#, 4_000_041),
        ("!", #"{"customerConsented":true,"sampleContentProvided":true}"#, 4_000_036),
        ("!", #"{"customerConsented":true,"sampleContentProvided":true,"deliveryStatus":0}"#, 4_000_036),
        ("!", told(#","refundPreference":"GRANT_FULL""#), nil), ("!", told(#","refundPreference":null"#), nil),
        ("!", told(#","refundPreference":"GRANT""#), 4_000_044), ("!", told(#","refundPreference":1"#), 4_000_044),
        ("!", told(#","consumptionPercentage":50000"#), nil), ("!", told(#","consumptionPercentage":0"#), nil),
        ("!", told(#","consumptionPercentage":-1"#), 4_000_207),
        ("!", told(#","consumptionPercentage":100001"#), 4_000_207),
        ("!", told(#","consumptionPercentage":1.5"#), 4_000_207),
        ("!", told(#","consumptionPercentage":99999999999999999999"#), 4_000_207),
        ("*", told(#","consumptionPercentage":50000"#), 4_000_209),
        ("*", told(#","refundPreference":"GRANT_PRORATED""#), nil),
        ("!", told(#","refundPreference":"GRANT_PRORATED","consumptionPercentage":0"#), 4_000_207),
        ("!", told(#","refundPreference":"GRANT_PRORATED","consumptionPercentage":100000"#), 4_000_207),
        ("!", told(#","refundPreference":"GRANT_PRORATED","consumptionPercentage":1"#), nil),
        ("!", undelivered(1), 4_000_208), ("!", undelivered(0), nil),
    ]

    private static let consumption = consumptionBodies.map { id, body, code in
        ErrorRow(method: .put, path: "/inApps/v2/transactions/consumption/\(id)", body: body, code: code)
    }

    /// The first version's fields with their highest numbers, and the error of each.
    private static let fields: [(name: String, max: Int, code: Int)] = [
        ("accountTenure", 7, 4_000_032), ("consumptionStatus", 3, 4_000_034), ("deliveryStatus", 5, 4_000_036),
        ("lifetimeDollarsPurchased", 7, 4_000_037), ("lifetimeDollarsRefunded", 7, 4_000_038),
        ("platform", 2, 4_000_039), ("playTime", 7, 4_000_040), ("userStatus", 4, 4_000_042),
        ("refundPreference", 3, 4_000_044),
    ]

    /// A whole body of the first version, with one member as given, or left out.
    static func first(_ name: String = "", _ value: String? = nil) -> String {
        var members = fields.map { ($0.name, String($0.max)) }
        members += [("customerConsented", "true"), ("sampleContentProvided", "true"), ("appAccountToken", #""""#)]
        let written = members.compactMap { member in
            member.0 == name ? value.map { "\"\(name)\":\($0)" } : "\"\(member.0)\":\(member.1)"
        }
        return "{" + written.joined(separator: ",") + "}"
    }

    private static func firstBodies(_ field: (name: String, max: Int, code: Int)) -> Bodies {
        [
            ("!", first(field.name, "\(field.max + 1)"), field.code), ("!", first(field.name, "-1"), field.code),
            ("!", first(field.name, "\"1\""), field.code),
            ("!", first(field.name), field.name == "refundPreference" ? nil : field.code),
        ]
    }

    private static let otherFirstBodies: Bodies = [
        ("!", first(), nil), ("*", first(), nil), ("&", first(), nil), ("1", first(), 4_040_010),
        ("x", first(), 4_000_006), ("@", first(), 4_000_048),
        ("!", first("appAccountToken", "\"\(uuid)\""), nil), ("!", first("appAccountToken", "\"x\""), 4_000_033),
        ("!", first("appAccountToken"), 4_000_033), ("!", first("customerConsented", "false"), 4_000_035),
        ("!", first("customerConsented"), 4_000_035), ("!", first("sampleContentProvided", "1"), 4_000_041),
        ("!", "", 4_000_000),
    ]

    private static let firstConsumption = (fields.flatMap(firstBodies) + otherFirstBodies).map { id, body, code in
        ErrorRow(method: .put, path: "/inApps/v1/transactions/consumption/\(id)", body: body, code: code)
    }
}

// MARK: Extensions

extension ErrorRow {
    static func terms(_ days: String, _ reason: String, _ identifier: String, _ more: String = "") -> String {
        "{\"extendByDays\":\(days),\"extendReasonCode\":\(reason),\"requestIdentifier\":\(identifier)\(more)}"
    }

    private static func letters(_ count: Int) -> String { "\"" + String(repeating: "é", count: count) + "\"" }

    private static let extensionBodies: Bodies = [
        ("*", terms("1", "0", "\"r\""), nil), ("*", terms("90", "3", "\"r\""), nil),
        ("*", terms("0", "0", "\"r\""), 4_000_009), ("*", terms("91", "0", "\"r\""), 4_000_009),
        ("*", terms("\"1\"", "0", "\"r\""), 4_000_009), ("*", terms("1", "4", "\"r\""), 4_000_010),
        ("*", terms("1", "null", "\"r\""), 4_000_010), ("*", terms("1", "0", "\"\""), 4_000_011),
        ("*", terms("1", "0", "1"), 4_000_011), ("*", terms("1", "0", letters(129)), 4_000_011),
        ("*", terms("1", "0", letters(128)), nil), ("*", "{", 4_000_000), ("x", terms("1", "0", "\"r\""), 4_000_008),
        ("1", terms("1", "0", "\"r\""), 4_040_005), ("$", terms("1", "0", "\"r\""), 4_040_005),
        ("~", terms("1", "0", "\"r\""), 4_040_005), ("!", terms("1", "0", "\"r\""), 4_030_004),
        ("&", terms("1", "0", "\"r\""), 4_030_007),
    ]

    private static let extensions = extensionBodies.map { id, body, code in
        ErrorRow(method: .put, path: "/inApps/v1/subscriptions/extend/\(id)", body: body, code: code)
    }

    private static func mass(_ more: String, _ identifier: String = uuid) -> String {
        terms("1", "0", "\"\(identifier)\"", more)
    }

    private static let product = #","productId":"month""#

    private static let massBodies: [(String, Int?)] = [
        (mass(product), nil), (terms("0", "0", "\"\(uuid)\"", product), 4_000_009),
        (terms("1", "9", "\"\(uuid)\"", product), 4_000_010), (mass(product, "r"), 4_000_011), (mass(""), 4_000_023),
        (mass(#","productId":"coins""#), 4_000_023), (mass(#","productId":"nobody""#), 4_000_023),
        (mass(product + #","storefrontCountryCodes":[]"#), 4_000_027),
        (mass(product + #","storefrontCountryCodes":["US"]"#), 4_000_028),
        (mass(product + #","storefrontCountryCodes":"USA""#), 4_000_028),
        (mass(product + #","storefrontCountryCodes":["USA",1]"#), 4_000_028),
        (mass(product + #","storefrontCountryCodes":["USA","MEX"]"#), nil),
    ]

    private static let massExtensions = massBodies.map { body, code in
        ErrorRow(method: .post, path: "/inApps/v1/subscriptions/extend/mass", body: body, code: code)
    }

    private static let extensionStatus = [
        ErrorRow(path: "/inApps/v1/subscriptions/extend/mass/month/x", code: 4_000_011),
        ErrorRow(path: "/inApps/v1/subscriptions/extend/mass/nobody/\(uuid)", code: 4_000_023),
        ErrorRow(path: "/inApps/v1/subscriptions/extend/mass/month/\(uuid)", code: 4_040_009),
    ]
}
