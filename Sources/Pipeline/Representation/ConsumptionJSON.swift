package import Encoding
package import PurchaseModel

/// A request for consumption information, as our JSON shows it.
package enum ConsumptionJSON {
    package static func write(_ request: ConsumptionRequest, into json: inout JSONObjectWriter) {
        json.member("id", SidedName.text(request.key.id.text, request.key.realm))
        json.member("state", request.state.rawValue)
        json.member("ending", request.ending)
        json.member("transaction_id", request.transaction.description)
        json.member("original_transaction_id", request.original.description)
        json.member("product_id", request.product.text)
        json.member("environment", request.key.realm.environment.rawValue)
        if request.key.realm.isTestSigned { json.member("test_signed", true) }
        json.member("reason", request.reason)
        json.member("form", request.form.rawValue)
        json.member("asked_at", request.askedAt)
        json.member("received_at", request.receivedAt)
        json.member("answer_at", request.state.isSettled ? nil : request.answerAt)
        json.member("deadline", request.deadline)
        json.member("settled_at", request.settledAt)
        if let answer = request.answer { json.object("sent") { write(answer, into: &$0) } }
    }

    /// Each part of an answer, and why it is what it is.
    package static func write(_ answer: ConsumptionAnswer, into json: inout JSONObjectWriter) {
        json.member("delivery_status", answer.delivery.rawValue)
        json.member("consumption_percentage", answer.percentage)
        json.member("sample_content_provided", answer.isSampleProvided)
        json.member("refund_preference", answer.preference?.rawValue)
        json.object("because") { json in
            json.member("delivery_status", answer.deliveryBecause.rawValue)
            json.member("consumption_percentage", answer.percentageBecause.rawValue)
            json.member("sample_content_provided", AnswerReason.configuration.rawValue)
            json.member("refund_preference", answer.preferenceBecause.rawValue)
            if answer.consentBecause != .notKnown {
                json.member("customer_consented", answer.consentBecause.rawValue)
            }
        }
    }
}

/// Who did what, as our JSON shows it.
package enum AuditJSON {
    package static func write(_ entries: [AuditEntry], into json: inout JSONObjectWriter) {
        json.array("audit") { json in
            for entry in entries {
                json.object { json in
                    json.member("at", entry.at)
                    json.member("actor", entry.actor)
                    json.member("act", entry.act)
                    json.member("detail", entry.detail)
                }
            }
        }
    }
}
