package import Foundation

/// What an answer means for a purchase. Nothing but a 200 of the server's own that names it confirms one, and nothing but a
/// 422 of its own refuses one: whatever else comes, from a hotel's network say, says nothing about the purchase.
package enum Ruling: Equatable, Sendable {
    case confirmed(Decision?)
    case pending(submission: String)
    case refused(verdict: String, reason: String)
    /// What waited is decided, or forgotten: sent again, the same proof is answered.
    case decided
    /// The request is made again, in so many seconds if the server has said how many.
    case again(Trouble, after: Double?)

    /// Of the members in the server's answers, those that matter here.
    private struct Answer: Decodable {
        struct Transaction: Decodable {
            let id: String?
            let decision: String?

            enum CodingKeys: String, CodingKey {
                case id = "transaction_id"
                case decision
            }
        }

        let result: String?
        let submission: String?
        let code: String?
        let verdict: String?
        let reason: String?
        let transactions: [Transaction]?

        enum CodingKeys: String, CodingKey {
            case result, code, verdict, reason, transactions
            case submission = "submission_id"
        }
    }

    /// The answer to `POST /v1/purchases`.
    ///
    /// - Parameters:
    ///   - id: the purchase's.
    ///   - answer: as it came.
    ///   - now: by the device's clock.
    package init(submitting id: String, _ answer: Transport.Answer, at now: Date) {
        let said = Self.read(answer)
        switch (answer.status, said?.result, said?.code) {
        case (200, "recorded", _), (200, "already_recorded", _):
            // An answer that does not name the purchase is one to something else, and confirms nothing.
            guard let named = said?.transactions?.first(where: { $0.id == id }) else {
                self = .again(.unreadableAnswer(status: answer.status), after: nil)
                return
            }
            self = .confirmed(named.decision.map { Decision(rawValue: $0) })
        case (200, "nothing_to_record", _):
            self = .refused(verdict: Refusal.nothingToRecord, reason: Refusal.nothingToRecord)
        case (202, "pending", _) where Self.isSubmission(said?.submission ?? ""):
            self = .pending(submission: said?.submission ?? "")
        case (200..<300, _, _): self = .again(.unreadableAnswer(status: answer.status), after: nil)
        case (422, _, "refused"):
            self = .refused(verdict: said?.verdict ?? "", reason: said?.reason ?? "")
        default: self = Self.failure(answer, code: said?.code, at: now)
        }
    }

    /// The answer to `GET /v1/submissions/{id}`.
    ///
    /// - Parameters:
    ///   - submission: what was asked about.
    ///   - answer: as it came.
    ///   - now: by the device's clock.
    package init(asking submission: String, _ answer: Transport.Answer, at now: Date) {
        let said = Self.read(answer)
        switch (answer.status, said?.result, said?.code) {
        case (200, "pending", _): self = .pending(submission: submission)
        // What was given up waits anew when it is sent again.
        case (200, "decided", _), (200, "given_up", _): self = .decided
        case (404, _, "not_found"): self = .decided
        case (200..<300, _, _): self = .again(.unreadableAnswer(status: answer.status), after: nil)
        default: self = Self.failure(answer, code: said?.code, at: now)
        }
    }

    /// What is no good answer to any request.
    package static func failure(_ answer: Transport.Answer, at now: Date) -> (Trouble, after: Double?) {
        guard case .again(let trouble, let pause) = failure(answer, code: read(answer)?.code, at: now) else {
            return (.unreadableAnswer(status: answer.status), nil)
        }
        return (trouble, pause)
    }

    private static func failure(_ answer: Transport.Answer, code: String?, at now: Date) -> Ruling {
        let trouble: Trouble =
            switch answer.status {
            case 408, 425, 429, 500...: .serverBusy(status: answer.status, code: code)
            case 401, 403: .keyRefused(status: answer.status, code: code)
            default: .requestRefused(status: answer.status, code: code)
            }
        return .again(trouble, after: RetryAfter.seconds(answer, at: now))
    }

    /// `nil` for what is not JSON of the server's kind.
    private static func read(_ answer: Transport.Answer) -> Answer? {
        try? JSONDecoder().decode(Answer.self, from: Data(answer.body))
    }

    /// It becomes part of a path.
    private static func isSubmission(_ text: String) -> Bool {
        let isDigit: (UInt8) -> Bool = { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return text.utf8.count == 32 && text.utf8.allSatisfy(isDigit)
    }
}
