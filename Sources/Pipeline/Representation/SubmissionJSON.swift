import Crypto
package import Encoding
import PurchaseModel
package import Storage

/// What has become of a proof that had to wait, as the API and events show it.
package enum SubmissionJSON {
    /// As the store holds it; it may still wait.
    package static func write(_ kept: KeptSubmission, into json: inout JSONObjectWriter) {
        guard let settled = kept.settled else {
            json.member("submission_id", kept.id.hexadecimal)
            json.member("result", "pending")
            write(kept.submission.customer, kept.submission.order, kept.submission.receivedAt, into: &json)
            return
        }
        write(settled, into: &json)
    }

    static func write(_ settled: SettledSubmission, into json: inout JSONObjectWriter) {
        json.member("submission_id", settled.name)
        if let verdict = settled.verdict {
            json.member("result", "decided")
            json.member("verdict", verdict)
        } else {
            json.member("result", "given_up")
            json.member("reason", settled.isRecordedInPart ? "recorded_in_part" : "waited_too_long")
        }
        write(settled.customer, settled.order, settled.receivedAt, into: &json)
        json.member("decided_at", settled.settledAt)
    }

    private static func write(
        _ customer: CustomerID?,
        _ order: OrderID?,
        _ receivedAt: Timestamp,
        into json: inout JSONObjectWriter
    ) {
        json.member("customer_id", customer?.text)
        json.member("order_id", order?.text)
        json.member("received_at", receivedAt)
    }
}

extension KeptSubmission {
    /// How it ended; `nil` while it waits.
    var settled: SettledSubmission? {
        settlement.map { settlement in
            SettledSubmission(
                name: id.hexadecimal,
                app: submission.app,
                customer: submission.customer,
                order: submission.order,
                receivedAt: submission.receivedAt,
                verdict: settlement.verdict == Settlement.givenUp ? nil : settlement.verdict,
                isRecordedInPart: submission.isRecordedInPart,
                settledAt: settlement.at
            )
        }
    }
}

/// The text of an id in answers and paths: lower-case digits, so that one submission has one path.
extension SubmissionID {
    package init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.decode(text), let id = SubmissionID(bytes), id.hexadecimal == text else {
            return nil
        }
        self = id
    }

    package var hexadecimal: String { Hexadecimal.encode(bytes) }
}
