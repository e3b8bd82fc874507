import Encoding
import Foundation
import TestSupport
import Testing

@testable import Server

/// What Prometheus and Grafana are given, by Prometheus' own tool and by the metrics that there are.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct MonitoringTests {
    private static let promtool = "/usr/bin/promtool"
    private static let hasPromtool = FileManager.default.isExecutableFile(atPath: promtool)
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../Packaging/monitoring"
    ).standardized.path

    private static func text(_ file: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: "\(folder)/\(file)")), as: UTF8.self)
    }

    /// Words of an expression that can only be metrics.
    private static func metrics(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(assay|process)_[a-z_]+/).map { String($0.0) })
    }

    @Test(.enabled(if: hasPromtool, "promtool is not installed")) func theMetricsAreGoodAndAllTold() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            _ = await server.post(Purchase.body(try Purchase.jws(1)))
            _ = await server.post(Purchase.body("no proof"))
            let exposition = try #require(await server.get("/metrics", key: nil))
            let run = try await Program.run(["check", "metrics"], input: exposition.body, instead: Self.promtool)
            #expect(run.code == 0 && run.errorText == "" && run.text == "", "\(run.errorText)\(run.text)")
            let names = Exposition(exposition.text).values.keys.map { String($0.prefix { $0 != "{" }) }
            #expect(Set(names).isSubset(of: Server.Metrics.names), "what is counted has its place among the names")
        }
    }

    @Test(.enabled(if: hasPromtool, "promtool is not installed"), arguments: [["check", "rules"], ["test", "rules"]])
    func theAlertsAreGoodAndFire(words: [String]) async throws {
        let file = words[0] == "check" ? "alerts.yml" : "alerts_test.yml"
        // Not ours, and some seconds of computing: beside other tests it has taken more than half a minute.
        let run = try await Program.run(words + [file], instead: Self.promtool, in: Self.folder, within: 120)
        #expect(run.code == 0, "\(run.text)\(run.errorText)")
    }

    @Test func everyAlertIsTestedBothWays() throws {
        let alerts = try Self.text("alerts.yml").matches(of: /- alert: (\w+)/).map { String($0.1) }
        let tests = try Self.text("alerts_test.yml")
        #expect(alerts.count > 10 && Set(alerts).count == alerts.count)
        for alert in alerts {
            let tried = tests.matches(of: /- alertname: (\w+)\n +eval_time: \w+\n +exp_alerts:( \[\])?/)
                .filter { String($0.1) == alert }
            #expect(tried.contains { $0.2 == nil }, "\(alert) fires nowhere")
            #expect(tried.contains { $0.2 != nil }, "\(alert) fires always")
        }
    }

    @Test(arguments: ["alerts.yml", "grafana.json"]) func onlyMetricsThatThereAreAreAskedFor(file: String) throws {
        let asked = Self.metrics(in: try Self.text(file))
        #expect(asked.count > 8)
        #expect(asked.subtracting(Server.Metrics.names) == [])
    }

    /// Grafana is not asked: its own shape is held to as far as a panel needs it.
    @Test func theDashboardIsWhole() throws {
        let document = try JSONDocument(Array(try Self.text("grafana.json").utf8))
        let panels = try #require(document.root.object?["panels"]?.array).compactMap(\.object)
        #expect(panels.count == document.root.object?["panels"]?.array?.count)
        var places: Set<[Int64]> = []
        var ids: Set<Int64> = []
        for panel in panels {
            let place = try #require(panel["gridPos"]?.object)
            let (x, y, width) = (place["x"]?.int64 ?? -1, place["y"]?.int64 ?? -1, place["w"]?.int64 ?? 99)
            #expect(x >= 0 && x + width <= 24 && places.insert([x, y]).inserted)
            #expect(ids.insert(try #require(panel["id"]?.int64)).inserted)
            #expect(panel["title"]?.string?.isEmpty == false)
            let targets = try #require(panel["targets"]?.array).compactMap(\.object)
            #expect(!targets.isEmpty)
            for expression in targets.map({ $0["expr"]?.string ?? "" }) where !expression.hasPrefix("up{") {
                #expect(!Self.metrics(in: expression).isEmpty, "\(expression)")
            }
        }
    }
}
