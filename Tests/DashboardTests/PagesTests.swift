import Dashboard
import HTTP
import PurchaseModel
import Storage
import Testing

/// What the pages show, and how they treat what came from outside.
@Suite struct PagesTests {
    private static let canary = "\"'><script>alert(1)</script><\u{301}img\u{20}src=x\u{20}onerror=alert(2)>"

    private static func refuse(
        _ desk: Desk,
        _ count: Int,
        proof: String,
        customer: String? = nil,
        reason: String = "signature_mismatch",
        claimed: [Int64] = []
    ) async throws {
        let hour = HourOfTime(containing: desk.clock.now)
        let key = RefusalKey(hour: hour, app: Desk.app, reason: reason)
        let digest = try #require(ProofDigest([UInt8](repeating: 7, count: 32)))
        let sample = RefusalSample(
            app: Desk.app,
            reason: reason,
            customer: customer.flatMap { CustomerID($0) },
            receivedAt: desk.clock.now,
            digest: digest,
            bytesInAll: proof.utf8.count,
            proof: Array(proof.utf8),
            format: "app_receipt",
            claimed: claimed.compactMap { TransactionID(number: $0) }
        )
        try await desk.store.write { write throws(StoreFailure) in
            try write.addRefusals(counts: [key: count], samples: [sample])
        }
    }

    private static func viewer(_ desk: Desk) async throws -> Browser {
        try await desk.add("ann", .viewer)
        let browser = Browser(desk)
        _ = await browser.signIn("ann")
        return browser
    }

    @Test func triageCountsByVerdictAndShowsASample() async throws {
        let desk = Desk()
        let browser = try await Self.viewer(desk)
        let empty = await browser.get("/dashboard/triage").text
        #expect(empty.contains("Nothing was refused in the last 24 hours.") && !empty.contains("<svg class=\"chart\""))
        try await Self.refuse(desk, 12_345, proof: "a forgery")
        for span in ["day", "month", "nonsense"] {
            let page = await browser.get("/dashboard/triage?span=\(span)")
            #expect(page.status == .ok)
            #expect(page.text.contains("12\u{202F}345"))
            #expect(page.text.contains("100.0 %"))
            #expect(page.text.contains("Refused after Apple was asked: 0."))
            #expect(page.text.contains("<rect class=\"forged\""))
            #expect(page.body.count < 100_000)
        }
        let sample = await browser.get("/dashboard/sample?sha256=" + String(repeating: "07", count: 32))
        #expect(sample.text.contains("what is said of a forgery"))
        try await Self.refuse(desk, 6, proof: "12345", reason: "unknown_to_apple")
        let asked = await browser.get("/dashboard/triage").text
        #expect(asked.contains("Refused without asking Apple: 12\u{202F}345. Refused after Apple was asked: 6."))
        #expect(await browser.get("/dashboard/sample?sha256=08").status == .notFound)
    }

    /// What is listed has an end; what is added up has none.
    @Test func triageAddsUpMoreThanItLists() async throws {
        let desk = Desk()
        let browser = try await Self.viewer(desk)
        for number in 1...99 { try await Self.refuse(desk, 9, proof: "a", reason: "reason_\(number)") }
        let short = await browser.get("/dashboard/triage").text
        #expect(short.contains("By app and reason, the most first"))
        try await Self.refuse(desk, 5, proof: "a", reason: "unknown_to_apple")
        try await Self.refuse(desk, 3, proof: "a")
        let page = await browser.get("/dashboard/triage").text
        #expect(page.contains("By app and reason, the 100 with the most"))
        let byVerdict = try #require(page.split(separator: "What it means").last?.split(separator: "</table>").first)
        #expect(byVerdict.contains("forged</th><td>3</td><td>0.3 %</td>"), "\(byVerdict)")
        #expect(page.contains("Refused without asking Apple: 894. Refused after Apple was asked: 5."))
    }

    /// Whoever is asked why a purchase was refused looks for the customer, or for the number on her receipt.
    @Test func whatWasRefusedIsFoundByItsCustomerAndByWhatItClaims() async throws {
        let desk = Desk()
        let browser = try await Self.viewer(desk)
        let customer = "<i>ann"
        try await Self.refuse(desk, 1, proof: "a", customer: customer, claimed: [77, 78])
        try await Self.refuse(desk, 1, proof: "a", customer: "bob", reason: "owned_by_another_customer", claimed: [77])
        for (query, place) in [("%3Ci%3Eann", "customer?app=shop&id=%3Ci%3Eann"), ("78", "transaction?app=shop&id=78")]
        {
            let found = await browser.get("/dashboard/search?q=\(query)")
            #expect(found.fields["Location"] == "/dashboard/" + place)
            let page = await browser.get("/dashboard/" + place)
            #expect(page.status == .ok)
            for part in [
                "signature_mismatch", "Another key signed it.", "<td>forged</td>", "app_receipt", "&lt;i&gt;ann",
                "transaction?app=shop&amp;id=77", "sample?sha256=0707",
            ] {
                #expect(page.text.contains(part), "\(part) on \(place)")
            }
            #expect(!page.text.contains("owned_by_another_customer"))
        }
        // The purchase itself, and who presented what is not hers.
        let number = await browser.get("/dashboard/transaction?app=shop&id=77").text
        #expect(number.contains("Presented by others") && number.contains("Refused proofs that claim it"))
        let bob = await browser.get("/dashboard/customer?app=shop&id=bob").text
        #expect(bob.contains("Presented, and another customer"))
        // Of several that presented the same bytes the one that was clicked on.
        for who in ["%3Ci%3Eann", "bob"] {
            let target = "/dashboard/sample?sha256=" + String(repeating: "07", count: 32) + "&customer=" + who
            #expect(await browser.get(target).text.contains("id=\(who)\""))
        }
        #expect(await browser.get("/dashboard/search?q=7").text.contains("Nothing has the id"))
    }

    @Test func whatCameFromOutsideIsNeverMarkup() async throws {
        let desk = Desk()
        let browser = try await Self.viewer(desk)
        try await Self.refuse(desk, 1, proof: Self.canary, customer: "<script>alert(3)</script>")
        let query = "%22%27%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E%3C%CC%81img+src%3Dx+onerror%3Dalert(2)%3E"
        let sample = "/dashboard/sample?sha256=" + String(repeating: "07", count: 32)
        for target in [sample, "/dashboard/search?q=" + query] {
            let text = await browser.get(target).text
            #expect(text.contains("alert(1)"), "the canary is on \(target)")
            for sign in ["<script", "<img", "<\u{301}"] {
                #expect(!text.utf8.contains(sign.utf8), "\(sign) on \(target)")
            }
        }
    }

    @Test func aPageOfManySamplesStaysSmall() async throws {
        let desk = Desk()
        let browser = try await Self.viewer(desk)
        let long = String(repeating: "<", count: RefusalSample.bytesMax)
        for _ in 0..<40 { try await Self.refuse(desk, 1, proof: long, customer: "customer") }
        for target in ["triage", "sample?sha256=" + String(repeating: "07", count: 32)] {
            let page = await browser.get("/dashboard/" + target)
            #expect(page.status == .ok)
            #expect(page.body.count < 100_000)
        }
    }

    @Test(arguments: ["customer", "order", "transaction", "submission"])
    func whatThereIsNotIsSaid(page: String) async throws {
        let browser = try await Self.viewer(Desk())
        let response = await browser.get("/dashboard/\(page)?app=shop&id=12")
        #expect(response.status == (page == "customer" ? .ok : .notFound))
    }
}

extension Sequence<UInt8> {
    /// Whether these bytes stand somewhere in it.
    fileprivate func contains(_ bytes: some Sequence<UInt8>) -> Bool {
        let (all, wanted) = (Array(self), Array(bytes))
        guard all.count >= wanted.count else { return false }
        return (0...(all.count - wanted.count)).contains { all[$0...].starts(with: wanted) }
    }
}
