import AppStore
import HTTP
import Pipeline
import PurchaseModel
import Testing

/// When Apple was last asked.
@Suite struct AppleContactsTests {
    @Test func theLastRequestOfEachAppIsKnown() throws {
        let contacts = AppleContacts()
        let (one, other) = (try #require(BundleID("com.example.one")), try #require(BundleID("com.example.other")))
        let lane = AppleLane(app: one, store: .production, endpoint: "history", perSecond: 50)
        let start = Timestamp(seconds: 1_767_225_600)
        #expect(contacts.last(of: one) == nil)
        contacts.note(.answered(lane, .ok, duration: .zero), at: start)
        #expect(contacts.last(of: one)?.status == 200)
        // What was not sent is no contact.
        contacts.note(.heldBack(lane, until: start), at: start.advanced(by: .seconds(1)))
        #expect(contacts.last(of: one)?.at == start)
        let sandbox = AppleLane(app: one, store: .sandbox, endpoint: "status", perSecond: 50)
        let later = start.advanced(by: .seconds(2))
        contacts.note(.failed(sandbox, .unauthorized, duration: .zero), at: later)
        let last = try #require(contacts.last(of: one))
        #expect(last.at == later && last.store == .sandbox && last.endpoint == "status" && last.status == nil)
        #expect(contacts.last(of: other) == nil)
    }
}
