import Encoding
import HTTP
import PurchaseModel
import Storage

/// What was refused, and why: over time, by reason, and as samples.
struct Triage: Sendable {
    /// A day by hours, a month by days.
    private enum Span: String {
        case day
        case month

        var hours: Int64 { self == .day ? 24 : 30 * 24 }
        var bars: Int { self == .day ? 24 : 30 }
        var name: String { self == .day ? "24 hours" : "30 days" }
    }

    /// In the order in which they are drawn, with what they mean.
    private static let verdicts: [(word: String, style: StaticString, meaning: String)] = [
        ("forged", "forged", "says that Apple signed it, and Apple did not"),
        ("not_yours", "not_yours", "genuine or not, for another app, store, product, device or customer"),
        ("malformed", "malformed", "no proof of purchase, or a broken one"),
        ("undecidable", "undecidable", "cannot be decided from the bytes alone"),
        ("test_signed", "test_signed", "signed by a test authority"),
    ]
    private static let samples = 25
    /// So many pairs of app and reason are listed.
    private static let listed = 100
    /// The reasons that only Apple's answer gives.
    private static let wordsOfApple: Set<String> = ["unknown_to_apple", "refused_by_apple", "unreadable_to_apple"]
    /// So many listings of counts are read for a chart.
    private static let pieces = 200

    let parts: DashboardParts

    private struct Found: Sendable {
        let counts: [RefusalCount]
        let totals: [RefusalTotal]
        let samples: [RefusalSample]
        let figures: StoreFigures
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let span = Span(rawValue: visit.fields["span"]) ?? .day
        let last = HourOfTime(containing: visit.now)
        let first = HourOfTime(number: last.number - span.hours + 1)
        let found = try await parts.store.read { reader throws(StoreFailure) in
            Found(
                counts: try Self.counts(since: first, reader),
                totals: try reader.refusalTotals(since: first, limit: Self.listed),
                samples: try reader.refusalSamples(limit: Self.samples),
                figures: try reader.figures()
            )
        }
        return Page("Triage", place: Address("/triage"), visit: visit) {
            element("p") {
                "Submissions that were refused. Counts are written with the next purchase that is recorded. Show the last "
                choice(.day, span)
                " or "
                choice(.month, span)
                "."
            }
            chart(found.counts, span, first)
            summary(found.counts, found.figures)
            if !found.totals.isEmpty { reasons(found.totals) }
            samples(found.samples)
        }.response()
    }

    /// More rows than a listing holds are brought in pieces: the first hour that a piece may have cut is asked for again.
    private static func counts(
        since first: HourOfTime,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> [RefusalCount] {
        var all: [RefusalCount] = []
        var hour = first
        for _ in 0..<pieces {
            let piece = try reader.refusalCounts(since: hour, limit: TransactionPage.limitMax)
            guard piece.count == TransactionPage.limitMax, let cut = piece.last?.key.hour, cut > hour else {
                return all + piece
            }
            all += piece.filter { $0.key.hour < cut }
            hour = cut
        }
        return all
    }

    @HTMLBuilder private func choice(_ span: Span, _ shown: Span) -> HTML {
        if span == shown {
            element("strong") { span.name }
        } else {
            element("a", .href(Address("/triage", [(name: "span", value: span.rawValue)]))) { span.name }
        }
    }

    private func bar(_ hour: HourOfTime, _ first: HourOfTime, _ span: Span) -> Int {
        let width = span.hours / Int64(span.bars)
        return min(max(Int((hour.number - first.number) / width), 0), span.bars - 1)
    }

    @HTMLBuilder private func chart(_ counts: [RefusalCount], _ span: Span, _ first: HourOfTime) -> HTML {
        let layers = Self.verdicts.map { verdict in
            var bars = [Int](repeating: 0, count: span.bars)
            for count in counts where parts.verdict(count.key.reason) == verdict.word {
                bars[bar(count.key.hour, first, span)] += count.count
            }
            return StackedBars.Layer(name: RefusedProofs.words(verdict.word), style: verdict.style, counts: bars)
        }
        let width = span.hours / Int64(span.bars)
        let labels = (0..<span.bars).map { Self.label(first, Int64($0) * width, span == .day) }
        if layers.allSatisfy({ $0.counts.allSatisfy { $0 == 0 } }) {
            element("p") { "Nothing was refused in the last \(span.name)." }
        } else {
            picture(labels, layers, span)
        }
    }

    @HTMLBuilder private func picture(_ labels: [String], _ layers: [StackedBars.Layer], _ span: Span) -> HTML {
        StackedBars(title: "Refused submissions by verdict, last \(span.name)", labels: labels, layers: layers).html
        element("details") {
            element("summary") { "The same as a table" }
            Table("Refused submissions, last \(span.name)", ["From"] + layers.map(\.name)) {
                for bar in labels.indices {
                    element("tr") {
                        element("th", .word("scope", "row")) { labels[bar] }
                        for layer in layers { element("td") { Texts.count(layer.counts[bar]) } }
                    }
                }
            }.html
        }
    }

    private func summary(_ counts: [RefusalCount], _ figures: StoreFigures) -> HTML {
        let byReason = Dictionary(counts.map { ($0.key.reason, $0.count) }, uniquingKeysWith: +)
        let all = byReason.values.reduce(0, +)
        let undecidable = byReason.filter { parts.verdict($0.key) == "undecidable" }.values.reduce(0, +)
        let byApple = byReason.filter { Self.wordsOfApple.contains($0.key) }.values.reduce(0, +)
        return Table("By verdict", ["Verdict", "Submissions", "Share", "What it means"]) {
            for verdict in Self.verdicts {
                let count = byReason.filter { parts.verdict($0.key) == verdict.word }.values.reduce(0, +)
                element("tr") {
                    element("th", .word("scope", "row")) { RefusedProofs.words(verdict.word) }
                    element("td") { Texts.count(count) }
                    element("td") { Texts.share(count, of: all) }
                    element("td") { verdict.meaning }
                }
            }
        }.html
            + element("p") {
                "Refused without asking Apple: \(Texts.count(all - undecidable - byApple)). Refused after Apple was asked: "
                "\(Texts.count(byApple)). Recorded since the beginning: "
                "\(Texts.count(figures.transactions)) transactions."
            }
    }

    private func reasons(_ totals: [RefusalTotal]) -> HTML {
        Table(
            totals.count < Self.listed
                ? "By app and reason, the most first" : "By app and reason, the \(Self.listed) with the most",
            ["App", "Reason", "Verdict", "Submissions", "First hour", "Last hour"]
        ) {
            for total in totals {
                element("tr") {
                    element("td") { element("bdi") { total.app?.text ?? "unknown" } }
                    element("th", .word("scope", "row")) { total.reason }
                    element("td") { RefusedProofs.words(parts.verdict(total.reason) ?? "unknown") }
                    element("td") { Texts.count(total.count) }
                    element("td") { Texts.moment(total.first.start) }
                    element("td") { Texts.moment(total.last.start) }
                }
            }
        }.html
    }

    @HTMLBuilder private func samples(_ samples: [RefusalSample]) -> HTML {
        element("h2") { "Samples" }
        if samples.isEmpty { element("p", .class("quiet")) { "Nothing was refused yet." } } else { table(samples) }
    }

    private func table(_ samples: [RefusalSample]) -> HTML {
        Table("The last that were refused", ["When", "Reason", "App", "Customer", "Bytes"]) {
            for sample in samples {
                element("tr") {
                    element("td") { Texts.moment(sample.receivedAt) }
                    element("th", .word("scope", "row")) {
                        Links.link(RefusedProofs.address(of: sample), sample.reason)
                    }
                    element("td") { element("bdi") { sample.app?.text ?? "unknown" } }
                    element("td") {
                        if let app = sample.app, let customer = sample.customer {
                            Links.link(Links.customer(app, customer), customer.text)
                        }
                    }
                    element("td") { Texts.count(sample.bytesInAll) }
                }
            }
        }.html
    }

    /// One refused proof, while it is among the last.
    func sample(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let digest = Hexadecimal.decode(visit.fields["sha256"]).flatMap({ ProofDigest($0) }) else {
            return Notices.notFound("sample among the last", visit)
        }
        let found = try await parts.store.read { reader throws(StoreFailure) in
            try reader.refusalSamples(of: .proof(digest), limit: RefusalSample.listedMax)
        }
        // Several customers may have presented the same.
        let customer = CustomerID(visit.fields["customer"])
        guard let sample = found.first(where: { $0.customer == customer }) ?? found.first else {
            return Notices.notFound("sample among the last", visit)
        }
        return Page("A refused proof", visit: visit) {
            element("dl", .class("facts")) {
                Texts.fact("Reason", sample.reason)
                Texts.fact("Verdict", parts.verdict(sample.reason).map(RefusedProofs.words))
                Texts.fact("What it means", parts.meaning(sample.reason))
                Texts.fact("App", sample.app?.text)
                Texts.fact("Format", sample.format)
                if let app = sample.app, let customer = sample.customer {
                    element("dt") { "Customer" }
                    element("dd") { Links.link(Links.customer(app, customer), customer.text) }
                }
                if !sample.claimed.isEmpty {
                    element("dt") { "Claims" }
                    element("dd") { RefusedProofs.claimed(sample, max: RefusalSample.claimedMax) }
                }
                Texts.fact("Received", sample.receivedAt)
                Texts.fact("SHA-256", Hexadecimal.encode(sample.digest.bytes))
                Texts.fact("Bytes", String(sample.bytesInAll))
            }
            if sample.bytesInAll == sample.proof.count {
                element("h2") { "What the verifier says of it today" }
                element("p", .class("quiet")) {
                    "Without what the app expects of its proofs: those checks are skipped."
                }
                element("pre", .word("tabindex", "0")) { Texts.cut(parts.explain(sample.proof), to: 40_000) }
            } else {
                element("p") { "Only its beginning was kept, so it cannot be examined again." }
            }
        }.response()
    }

    private static func label(_ first: HourOfTime, _ hours: Int64, _ isHour: Bool) -> String {
        let moment = HourOfTime(number: first.number + hours).start
        let text = Array((RFC3339.text(milliseconds: moment.milliseconds) ?? "").utf8)
        guard text.count >= 16 else { return "–" }
        return String(decoding: isHour ? text[11..<16] : text[5..<10], as: UTF8.self)
    }
}
