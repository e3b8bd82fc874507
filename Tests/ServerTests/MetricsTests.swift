import Encoding
import Foundation
import Testing

/// What Prometheus reads: the format by its rules, and counters that tell what happened.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct MetricsTests {
    @Test func everyLineKeepsToTheFormat() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            try await Self.doOneOfEach(on: server)
            let answer = try #require(await server.get("/metrics", key: nil))
            #expect(answer.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(Exposition(answer.text).faults == [])
            #expect(answer.body.last == 0x0A)
        }
    }

    @Test func theCountersMoveAsTheyShould() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            let before = Exposition(await server.get("/metrics", key: nil)?.text ?? "").values
            try await Self.doOneOfEach(on: server)
            let after = Exposition(await server.get("/metrics", key: nil)?.text ?? "").values
            let submissions = { (format: String, result: String) in
                "assay_submissions_total{app=\"demo\",format=\"\(format)\",result=\"\(result)\"}"
            }
            for (series, amount) in [
                (submissions("jws_transaction", "recorded"), 1),
                (submissions("jws_transaction", "already_recorded"), 2),
                (submissions("transaction_id", "pending"), 2), (submissions("unknown", "refused"), 2),
                ("assay_transactions_total{app=\"demo\"}", 3), ("assay_commits_total{result=\"committed\"}", 1),
                ("assay_commit_seconds_count", 1), ("assay_http_requests_total{status=\"200\"}", 4),
                ("assay_http_requests_total{status=\"202\"}", 2), ("assay_http_requests_total{status=\"422\"}", 2),
                ("assay_http_requests_total{status=\"401\"}", 1),
                (
                    "assay_refusals_total{app=\"demo\",reason=\"unrecognised\",verdict=\"malformed\",repeated=\"false\"}",
                    1
                ),
                (
                    "assay_refusals_total{app=\"demo\",reason=\"unrecognised\",verdict=\"malformed\",repeated=\"true\"}",
                    1
                ),
            ] {
                #expect((after[series] ?? 0) - (before[series] ?? 0) == Double(amount), "\(series)")
            }
            // Whatever is called a total only grows.
            for (series, value) in before where series.contains("_total") || series.contains("_bucket") {
                #expect(after[series] ?? 0 >= value, "\(series)")
            }
        }
    }

    /// Neither a key nor a proof nor a customer stands in what the operator's tools collect.
    @Test func nothingSecretIsSaid() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            let proof = try Purchase.jws(1)
            for body in [
                Purchase.body(proof, customer: "secret-customer"),
                Purchase.body(proof + "x", customer: "secret-customer"),
                Purchase.body("secret-proof-that-is-none", customer: "secret-customer"),
                Purchase.body("170000029449420", customer: "secret-customer"),
            ] {
                _ = await server.post(body)
                _ = await server.post(body, key: "secret-key-of-somebody-else-0123456789")
            }
            _ = await server.get("/v1/customers/secret-customer/transactions?after=secret")
            let metrics = await server.get("/metrics", key: nil)?.text ?? ""
            server.stop()
            _ = await server.exitCode()
            let print = try await Program.run(["config", "print", "--config", folder.configuration])
            #expect(print.code == 0)
            for text in [server.output.text, server.errors.text, metrics, print.text, print.errorText] {
                for secret in ["secret-", "sk_test", String(proof.suffix(20)), String(proof.prefix(40)), "1700000294"] {
                    #expect(!text.contains(secret), "\(secret)")
                }
            }
        }
    }

    /// One new purchase, two repetitions, two pending ones, two refusals, one without a key.
    private static func doOneOfEach(on server: ServerProcess) async throws {
        let body = Purchase.body(try Purchase.jws(1))
        for _ in 0..<3 { #expect(await server.post(body)?.status == 200) }
        for _ in 0..<2 { #expect(await server.post(Purchase.body("170000029449420"))?.status == 202) }
        for _ in 0..<2 { #expect(await server.post(Purchase.body("no proof \"\\\n"))?.status == 422) }
        #expect(await server.post(body, key: "nobody")?.status == 401)
    }
}

/// Prometheus' text format 0.0.4, read strictly.
struct Exposition {
    private(set) var values: [String: Double] = [:]
    private(set) var faults: [String] = []
    private var helped: Set<Substring> = []
    private var kinds: [Substring: Substring] = [:]
    /// The family whose lines come now, and those that are done.
    private var current: Substring = ""
    private var done: Set<Substring> = []

    init(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if line.hasPrefix("# HELP ") {
                note(help: line)
            } else if line.hasPrefix("# TYPE ") {
                note(kind: line)
            } else {
                note(sample: line)
            }
        }
        for family in helped where !done.contains(family) && family != current { faults.append("\(family) is empty") }
    }

    private mutating func note(help line: Substring) {
        let words = line.split(separator: " ", maxSplits: 3)
        guard words.count == 4, words[2].wholeMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/) != nil else {
            return faults.append(String(line))
        }
        if !helped.insert(words[2]).inserted { faults.append("helped twice: \(line)") }
    }

    private mutating func note(kind line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 4, helped.contains(words[2]), ["counter", "gauge", "histogram"].contains(words[3]) else {
            return faults.append(String(line))
        }
        if kinds.updateValue(words[3], forKey: words[2]) != nil { faults.append("typed twice: \(line)") }
        if words[3] == "counter", !words[2].hasSuffix("_total") { faults.append("no total: \(line)") }
    }

    private mutating func note(sample line: Substring) {
        let form = /([a-zA-Z_:][a-zA-Z0-9_:]*)((?:\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)+\})?) (\S+)/
        guard let match = line.wholeMatch(of: form), let value = Double(match.3), value >= 0 else {
            return faults.append(String(line))
        }
        let family = self.family(of: match.1)
        guard kinds[family] != nil else { return faults.append("no type: \(line)") }
        if family != current {
            done.insert(current)
            if done.contains(family) { faults.append("out of order: \(line)") }
            current = family
        }
        if values.updateValue(value, forKey: String(match.1 + match.2)) != nil { faults.append("twice: \(line)") }
    }

    /// A histogram's samples bear its name with an ending.
    private func family(of name: Substring) -> Substring {
        for ending in ["_bucket", "_sum", "_count"] where name.hasSuffix(ending) {
            let family = name.dropLast(ending.utf8.count)
            if kinds[family] == "histogram" { return family }
        }
        return name
    }
}
