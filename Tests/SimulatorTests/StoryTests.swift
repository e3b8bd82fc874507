import Foundation
import PurchaseModel
import Simulator
import Testing

/// The stories in `Examples/stories`, and the language that they are written in.
struct StoryTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Examples/stories")

    static let names: [String] =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? [])
        .filter { $0.hasSuffix(".json") }.sorted()

    static func text(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: name)))
    }

    static func story(_ name: String) throws -> Story { try Story(text(name)) }

    @Test("ends as it says, every time", arguments: names)
    func ends(_ name: String) throws {
        let story = try Self.story(name)
        var first = StoryTeller(story)
        #expect(try first.tell(story) == [])
        var second = StoryTeller(story)
        #expect(try second.tell(story) == [])
        #expect(first.store.notices == second.store.notices)
        #expect(first.store.transactions == second.store.transactions)
    }

    /// Every pair of Apple's table, but the two that Apple no longer sends.
    static let all: Set<String> = [
        "SUBSCRIBED/INITIAL_BUY", "SUBSCRIBED/RESUBSCRIBE", "DID_RENEW", "DID_RENEW/BILLING_RECOVERY",
        "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF",
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
        "OFFER_REDEEMED", "OFFER_REDEEMED/UPGRADE", "OFFER_REDEEMED/DOWNGRADE", "DID_FAIL_TO_RENEW",
        "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "EXPIRED/VOLUNTARY", "EXPIRED/BILLING_RETRY",
        "EXPIRED/PRICE_INCREASE", "EXPIRED/PRODUCT_NOT_FOR_SALE", "EXPIRED", "PRICE_INCREASE/PENDING",
        "PRICE_INCREASE/ACCEPTED", "CONSUMPTION_REQUEST", "REFUND", "REFUND_DECLINED", "REFUND_REVERSED", "REVOKE",
        "RENEWAL_EXTENDED", "RENEWAL_EXTENSION/FAILURE", "RENEWAL_EXTENSION/SUMMARY", "ONE_TIME_CHARGE",
        "EXTERNAL_PURCHASE_TOKEN/UNREPORTED", "EXTERNAL_PURCHASE_TOKEN/CREATED",
        "EXTERNAL_PURCHASE_TOKEN/ACTIVE_TOKEN_REMINDER", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION",
        "PRICE_CHANGE", "TEST",
    ]

    @Test func togetherTheStoriesTellEverythingThatAppleTells() throws {
        var told: Set<String> = []
        for name in Self.names {
            let story = try Self.story(name)
            var teller = StoryTeller(story)
            _ = try teller.tell(story)
            for notice in teller.store.notices {
                told.insert([notice.type.rawValue, notice.subtype].compactMap(\.self).joined(separator: "/"))
            }
        }
        #expect(told == Self.all)
        #expect(Set(Self.all.map { $0.prefix { $0 != "/" } }) == Set(NoticeType.allCases.map { $0.rawValue[...] }))
    }

    @Test func aDifferenceIsSaid() throws {
        let story = try Story(
            Array(
                """
                {"name": "n", "customers": [{"name": "anna"}],
                 "steps": [{"act": "buy", "customer": "anna", "product": "coins.100"}],
                 "expect": {"notifications": [], "transactions": {"anna": 2}, "status": {"anna": "active"}}}
                """.utf8
            )
        )
        var teller = StoryTeller(story)
        #expect(try teller.tell(story).count == 3)
    }

    static let broken: [(text: String, path: String)] = [
        ("", ""),
        ("[]", ""),
        (#"{"name": "n", "customers": [], "steps": [], "surprise": 1}"#, "surprise"),
        (#"{"customers": [], "steps": []}"#, "name"),
        (#"{"name": "n", "steps": []}"#, "customers"),
        (#"{"name": "n", "customers": [{"name": "a", "pace": "sandbox_4"}], "steps": []}"#, "customers[0].pace"),
        (#"{"name": "n", "customers": [{"name": "a", "storefront": "XYZ"}], "steps": []}"#, "customers[0].storefront"),
        (#"{"name": "n", "customers": [{"name": ""}], "steps": []}"#, "customers[0].name"),
        (#"{"name": "n", "customers": [], "steps": [{"after": "3 days", "act": "end"}]}"#, "steps[0].after"),
        (#"{"name": "n", "customers": [], "steps": [{"act": "end", "refused": "no"}]}"#, "steps[0].refused"),
        (#"{"name": "n", "customers": [], "steps": [], "starts": "yesterday"}"#, "starts"),
        (#"{"name": "n", "customers": [], "steps": [], "seed": 1.5}"#, "seed"),
        (#"{"name": "n", "customers": [], "steps": [], "expect": {"status": {"a": "fine"}}}"#, "expect.status.a"),
    ]

    @Test("names the place of what is wrong", arguments: broken)
    func faults(_ row: (text: String, path: String)) {
        let fault = #expect(throws: StoryFault.self) { try Story(Array(row.text.utf8)) }
        #expect(fault?.path == row.path)
    }

    static let wrongSteps: [(step: String, path: String)] = [
        (#"{"act": "fly"}"#, "steps[0].act"),
        (#"{"act": "buy", "customer": "anna"}"#, "steps[0].product"),
        (#"{"act": "buy", "customer": "anna", "product": "coins.100", "colour": "red"}"#, "steps[0].colour"),
        (#"{"act": "buy", "customer": "anna", "product": "coins.100", "quantity": "2"}"#, "steps[0].quantity"),
        (#"{"act": "buy", "customer": "nobody", "product": "coins.100"}"#, "steps[0].act"),
        (#"{"act": "finish", "transaction": "no-label"}"#, "steps[0].transaction"),
        (#"{"act": "finish", "customer": "anna"}"#, "steps[0].transaction"),
        (#"{"act": "decide_refund", "transaction": "1", "decision": "maybe"}"#, "steps[0].decision"),
        (#"{"act": "extend", "transaction": "1", "days": 91}"#, "steps[0].days"),
        (#"{"act": "buy", "customer": "anna", "product": "coins.100", "refused": "not_for_sale"}"#, "steps[0].refused"),
    ]

    @Test("stops at a step that cannot be taken", arguments: wrongSteps)
    func wrongStep(_ row: (step: String, path: String)) throws {
        let text = #"{"name": "n", "customers": [{"name": "anna"}], "steps": ["# + row.step + "]}"
        let story = try Story(Array(text.utf8))
        var teller = StoryTeller(story)
        let fault = #expect(throws: StoryFault.self) { try teller.tell(story) }
        #expect(fault?.path == row.path)
    }
}
