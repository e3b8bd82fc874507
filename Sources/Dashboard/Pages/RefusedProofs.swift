import Encoding
import PurchaseModel
import Storage

/// Those among the last refused proofs that are about somebody or something, for whoever looks into a complaint.
struct RefusedProofs: Sendable {
    static let rows = 25
    /// How many of the transactions that a proof claims are shown.
    private static let claimedShown = 5

    /// The word for what is genuine, and another customer's.
    private static let ownedByAnother = "owned_by_another_customer"

    let samples: [RefusalSample]

    private init(_ samples: [RefusalSample]) { self.samples = samples }

    /// Those that are genuine, and another customer's.
    var presentedByOthers: RefusedProofs { RefusedProofs(samples.filter { $0.reason == Self.ownedByAnother }) }

    /// All others.
    var refused: RefusedProofs { RefusedProofs(samples.filter { $0.reason != Self.ownedByAnother }) }

    init(of subject: RefusalSubject, _ reader: any StoreReader) throws(StoreFailure) {
        samples = try reader.refusalSamples(of: subject, limit: Self.rows)
    }

    /// - Returns: a table; nothing when nothing of it was refused.
    @HTMLBuilder func html(_ caption: String, _ parts: DashboardParts) -> HTML {
        if !samples.isEmpty {
            Table(caption, ["When", "Reason", "Verdict", "What it means", "Format", "Customer", "Claims"]) {
                for sample in samples { Self.row(sample, parts) }
            }.html
            element("p", .class("quiet")) {
                "Of the last \(Texts.count(RefusalSample.keptMax)) that were refused; each proof of a customer once a day. They "
                "are written with the next purchase that is recorded."
            }
        }
    }

    private static func row(_ sample: RefusalSample, _ parts: DashboardParts) -> HTML {
        element("tr") {
            element("td") { Texts.moment(sample.receivedAt) }
            element("th", .word("scope", "row")) { Links.link(address(of: sample), sample.reason) }
            element("td") { parts.verdict(sample.reason).map(words) ?? "unknown" }
            element("td") { parts.meaning(sample.reason) ?? "" }
            element("td") { sample.format ?? "not noted" }
            element("td") {
                if let app = sample.app, let customer = sample.customer {
                    Links.link(Links.customer(app, customer), customer.text)
                }
            }
            element("td") { claimed(sample, max: claimedShown) }
        }
    }

    /// The transactions that it claims, each with its page.
    @HTMLBuilder static func claimed(_ sample: RefusalSample, max: Int) -> HTML {
        if let app = sample.app {
            for id in sample.claimed.prefix(max) {
                Links.link(Links.transaction(app, id), id.description)
                " "
            }
            if sample.claimed.count > max { "and \(Texts.count(sample.claimed.count - max)) more" }
        }
    }

    /// Where one is shown, while it is kept.
    static func address(of sample: RefusalSample) -> Address {
        Address(
            "/sample",
            [
                (name: "sha256", value: Hexadecimal.encode(sample.digest.bytes)),
                (name: "customer", value: sample.customer?.text),
            ]
        )
    }

    /// A stable word as people read it.
    static func words(_ word: String) -> String {
        String(decoding: word.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }
}
