import Encoding
package import HTTP
import PurchaseModel

/// How the simulated Apple is set: where notifications go, and how badly it behaves.
package struct SettingEndpoints: Sendable {
    private let simulator: AppStoreSimulator
    private let chaos: ChaosRun
    private let sent: SentNotices

    package init(_ simulator: AppStoreSimulator, chaos: ChaosRun, sent: SentNotices) {
        self.simulator = simulator
        self.chaos = chaos
        self.sent = sent
    }

    package func routes() -> [Route] {
        [
            Route(.get, "/simulator/v1/chaos") { _, _ in shown() },
            Route(.put, "/simulator/v1/chaos") { request, _ in set(request.body) },
            Route(.put, "/simulator/v1/apps/{app}/notifications") { request, path in
                setTarget(of: path["app"] ?? "", request.body)
            },
            Route(.get, "/simulator/v1/apps/{app}/deliveries") { _, path in deliveries(of: path["app"] ?? "") },
        ]
    }

    // MARK: Chaos

    private func shown() -> HTTPResponse {
        let chaos = chaos.chaos
        return ControlAnswer.json { json in
            json.member("seed", Int64(bitPattern: chaos.seed))
            for share in ChaosShare.all { json.member(share.name, chaos[keyPath: share.path]) }
            json.member("slow_from_ms", chaos.slowMilliseconds.lowerBound)
            json.member("slow_to_ms", chaos.slowMilliseconds.upperBound)
        }
    }

    /// Replaces the whole chaos and starts its story anew; what is not named is 0.
    private func set(_ body: [UInt8]) -> HTTPResponse {
        do throws(StoryFault) {
            var members = try ControlAnswer.members(body)
            var chaos = Chaos()
            chaos.seed = UInt64(try members.number("seed", 0...Int64.max) ?? 1)
            var sums = (requests: 0, notices: 0)
            for share in ChaosShare.all {
                guard let value = try members.number(share.name, 0...share.most) else { continue }
                chaos[keyPath: share.path] = Int(value)
                switch share.counts {
                case .requests: sums.requests += Int(value)
                case .notices: sums.notices += Int(value)
                case .nothing: break
                }
            }
            let from = try members.number("slow_from_ms", 0...600_000) ?? 3_000
            let to = try members.number("slow_to_ms", 0...600_000) ?? max(from, 6_000)
            guard from <= to else { throw StoryFault("slow_to_ms", "must not be less than slow_from_ms") }
            chaos.slowMilliseconds = Int(from)...Int(to)
            try members.finish()
            guard sums.requests <= 1_000, sums.notices <= 1_000 else {
                throw StoryFault("", "all shares together are more than 1000 thousandths")
            }
            self.chaos.set(chaos)
        } catch {
            return ControlAnswer.fault(error)
        }
        return shown()
    }

    // MARK: Notifications

    /// `{"url": "https://…", "version": 2, "environment": "sandbox"}`; without an environment both, without a url none.
    private func setTarget(of app: String, _ body: [UInt8]) -> HTTPResponse {
        do throws(StoryFault) {
            var members = try ControlAnswer.members(body)
            let url = try members.url("url")
            let version = try members.number("version", 1...2).flatMap { NotificationTarget.Version(rawValue: Int($0)) }
            let environment = try members.environment()
            try members.finish()
            let target = url.map { NotificationTarget(url: $0, version: version ?? .two) }
            let isKnown = simulator.change { store in
                guard let id = BundleID(app), var changed = store.apps[id] else { return false }
                if environment != .sandbox { changed.productionNotifications = target }
                if environment != .production { changed.sandboxNotifications = target }
                store.set(changed)
                return true
            }
            guard isKnown else { return ControlAnswer.notFound("app") }
            return HTTPResponse(.noContent)
        } catch {
            return ControlAnswer.fault(error)
        }
    }

    /// What was sent to the app's server, with every attempt.
    private func deliveries(of app: String) -> HTTPResponse {
        guard let id = BundleID(app), simulator.read({ $0.apps[id] != nil }) else {
            return ControlAnswer.notFound("app")
        }
        let all = sent.all(id, .production) + sent.all(id, .sandbox)
        return ControlAnswer.json { json in
            json.array("deliveries") { json in
                for delivery in all.suffix(1_000) {
                    json.object { json in
                        LedgerJSON.write(delivery.notice, into: &json)
                        json.array("attempts") { json in
                            for attempt in delivery.attempts {
                                json.object { json in
                                    json.member("at", LedgerJSON.text(attempt.at))
                                    json.member("result", attempt.result.rawValue)
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// One member of a chaos in JSON.
private struct ChaosShare {
    enum Counts { case requests, notices, nothing }

    let name: String
    let path: any WritableKeyPath<Chaos, Int> & Sendable
    var counts = Counts.requests
    var most: Int64 = 1_000

    static let all = [
        ChaosShare(name: "slow", path: \.slow),
        ChaosShare(name: "time_out", path: \.timeOut),
        ChaosShare(name: "reset", path: \.reset),
        ChaosShare(name: "server_error", path: \.serverError),
        ChaosShare(name: "too_many_requests", path: \.tooManyRequests),
        ChaosShare(name: "html", path: \.html),
        ChaosShare(name: "truncated", path: \.truncated),
        ChaosShare(name: "unauthorized", path: \.unauthorized),
        ChaosShare(name: "temporary_status", path: \.temporaryStatus),
        ChaosShare(name: "notices_lost", path: \.noticesLost, counts: .notices),
        ChaosShare(name: "notices_twice", path: \.noticesTwice, counts: .notices),
        ChaosShare(name: "notices_reordered", path: \.noticesReordered, counts: .notices),
        ChaosShare(name: "notices_late", path: \.noticesLate, counts: .notices),
        ChaosShare(name: "late_seconds", path: \.lateSeconds, counts: .nothing, most: 10_000_000),
        ChaosShare(name: "time_out_ms", path: \.timeOutMilliseconds, counts: .nothing, most: 600_000),
        ChaosShare(name: "clock_skew_seconds", path: \.clockSkewSeconds, counts: .nothing, most: 10_000_000),
    ]
}
