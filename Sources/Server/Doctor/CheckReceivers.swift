import HTTP
import PurchaseModel
import Storage

/// Whether webhooks' receivers can be reached: by HEAD, which changes nothing. `assay webhooks test` sends an event.
struct CheckReceivers {
    let apps: [AppID]
    let rule: EgressRule
    let caller: HTTPCaller

    func findings(_ ledger: OpenedLedger) async -> [Finding] {
        let endpoints: [WebhookEndpoint]
        do throws(StoreFailure) {
            let apps = apps
            endpoints = try await ledger.read { reader throws(StoreFailure) in
                var all: [WebhookEndpoint] = []
                for app in apps { all += try reader.endpoints(app: app) }
                return all
            }
        } catch {
            return [.fail("webhook", "the ledger's endpoints: \(error.sentence)", fix: "assay check says more")]
        }
        var findings: [Finding] = []
        for endpoint in endpoints { findings.append(await finding(endpoint)) }
        return findings
    }

    private func finding(_ endpoint: WebhookEndpoint) async -> Finding {
        let subject = "\(endpoint.app) \(endpoint.id.text)"
        guard endpoint.isEnabled else {
            return .warn(
                "webhook",
                of: subject,
                "disabled: \(endpoint.disabledReason ?? "by hand")",
                fix: "mend the receiver, enable it again, and have assay webhooks replay send what it missed"
            )
        }
        do throws(EgressURLFault) { try rule.check(url: endpoint.url) } catch {
            return .fail(
                "webhook",
                of: subject,
                "its URL may not be called: \(error.rawValue)",
                fix: "use https, or name the host in webhooks.plain_hosts"
            )
        }
        do throws(HTTPCallFailure) {
            let response = try await caller.send(
                HTTPCall(method: .head, url: endpoint.url, fields: ["User-Agent": "assay"], timeout: .seconds(10))
            )
            return .ok("webhook", of: subject, "reached; it answers HEAD with \(response.status.rawValue)")
        } catch {
            return .fail("webhook", of: subject, error.sentence, fix: error.advice)
        }
    }
}
