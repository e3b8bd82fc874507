package import AppleFormats
import Encoding
package import PurchaseModel

/// verifyReceipt's answer with what makes it more than a text: who gave it, and when.
///
/// Nothing in it is signed. It is a fact because one of Apple's hosts said so over TLS, and only then: so the URL that was
/// called decides who vouches, letter by letter, and whoever asks another server gets test facts. See
/// docs/decisions/0019-an-answer-is-vouched-for-by-its-host.md.
package struct ServerAnswer: Sendable {
    package let response: VerifyReceiptResponse
    /// What was called.
    package let url: String
    /// The store whose server that is.
    package let store: StoreEnvironment
    /// The answer as it came.
    package let body: [UInt8]
    /// No later than Apple looked, for answers that do not say when that was.
    package let askedAt: Timestamp

    package init(
        _ response: VerifyReceiptResponse,
        in body: [UInt8],
        from url: String,
        of store: StoreEnvironment,
        askedAt: Timestamp
    ) {
        self.response = response
        self.body = body
        self.url = url
        self.store = store
        self.askedAt = askedAt
    }

    /// Apple's two addresses.
    package static let productionURL = "https://buy.itunes.apple.com/verifyReceipt"
    package static let sandboxURL = "https://sandbox.itunes.apple.com/verifyReceipt"

    /// Only Apple's address of that very store is Apple.
    var voucher: Voucher {
        let own: String? =
            switch store {
            case .production: Self.productionURL
            case .sandbox: Self.sandboxURL
            default: nil
            }
        return own.map { IdentityRules.areEqual($0, url) } == true ? .appleServer : .testServer
    }

    /// When Apple looked, by its own clock where the answer says so. Not when the receipt was made: that may be years ago,
    /// and what was heard of since would count as newer than what Apple knows today. Not when the answer came, either: what
    /// Apple signed in between is newer than what it says.
    var answeredAt: Timestamp {
        if case .app(let receipt)? = response.receipt, let date = receipt.requestDate {
            return Timestamp(milliseconds: date)
        }
        // It cannot have been said before what it tells.
        let told = (response.latestReceiptInfo + [response.latestExpiredReceiptInfo].compactMap(\.self))
            .compactMap(\.cancellationDate).max()
        return max(askedAt, Timestamp(milliseconds: told ?? askedAt.milliseconds))
    }
}

extension Verifier {
    /// The door for what Apple's server answered: facts without a signature.
    ///
    /// - Parameters:
    ///   - answer: what was answered, and by whom.
    ///   - expecting: whose receipt it must be; the same rules as for what is signed.
    /// - Returns: what may be acted upon, if the answer is about a purchase and for this app.
    package func examine(_ answer: ServerAnswer, expecting: Expectation) -> AnswerExamination {
        var report = Report()
        report.format = .verifyReceiptResponse
        var trace = Trace()
        var renewals: [Renewal] = []
        var isProved = false
        do throws(Refusal) {
            let facts = try trace.check(.content) { () throws(Refusal) in try answered(answer) }
            report.claims = facts.claims
            if facts.unread > 0 { report.detail = "\(facts.unread) entries that are no transaction" }
            try IdentityRules.check(facts.claims, of: .verifyReceiptResponse, expecting, &trace)
            report.note(answer.voucher)
            renewals = facts.renewals
            isProved = true
        } catch {
            report.reason = error.reason
            report.detail = error.detail
            report.difference = error.difference
        }
        report.checks = trace.checks
        let provenance = Provenance(vouchedBy: answer.voucher, signedAt: answer.answeredAt)
        let proof = Proof(format: report.format, claims: report.claims, bytes: answer.body)
        return AnswerExamination(
            examination: Examination(report: report, proof: isProved ? Verified(proof, provenance: provenance) : nil),
            renewals: renewals.map { Verified($0, provenance: provenance) }
        )
    }

    private func answered(_ answer: ServerAnswer) throws(Refusal) -> AnsweredFacts {
        guard answer.response.status?.hasReceipt == true, answer.response.receipt != nil else {
            let status = answer.response.status.map { "status \($0.rawValue)" } ?? "no status"
            throw Refusal(.answerWithoutPurchase, "an answer without a receipt: \(status)")
        }
        var facts = AnsweredFacts(answer.response, at: answer.answeredAt)
        // Answers about iOS 6 receipts name no store; but each host knows its own purchases only.
        let found = facts.claims.environment ?? answer.store
        guard found == answer.store else {
            throw Refusal(
                .environmentUnknown,
                "the host of \(answer.store) says that it is from another store",
                difference: Difference(field: "environment", expected: answer.store.rawValue, found: found.rawValue)
            )
        }
        facts.claims.environment = found
        for index in facts.renewals.indices { facts.renewals[index].environment = found }
        return facts
    }
}

/// What came of an answer.
package struct AnswerExamination: Sendable {
    package let examination: Examination
    /// What Apple will do next, one for each subscription in the proof; none without it.
    package let renewals: [Verified<Renewal>]
}
