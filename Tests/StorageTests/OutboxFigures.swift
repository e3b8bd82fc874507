import PurchaseModel
import Storage

/// How much there is, whole and as far as a limit.
extension OutboxVerb {
    static func figures(of endpoint: WebhookEndpointID, countingTo limit: Int) -> OutboxVerb {
        .read("figures of \(endpoint) to \(limit)") { reader throws(StoreFailure) in
            .figures(try reader.webhookFigures(endpoint), try reader.webhookFigures(endpoint, countingTo: limit))
        }
    }

    static func jobFigures(at moment: Timestamp, countingTo limit: Int) -> OutboxVerb {
        .read("figures of jobs to \(limit)") { reader throws(StoreFailure) in
            .kinds(try reader.jobFigures(), try reader.jobBacklogs(at: moment, countingTo: limit))
        }
    }
}
