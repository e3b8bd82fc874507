import Foundation
import PurchaseClient
import Testing

@Suite struct RulingTests {
    typealias Answer = Transport.Answer

    static let now = Date(timeIntervalSince1970: 784_111_777)
    static let submission = "0123456789abcdef0123456789abcdef"

    static func answer(_ status: Int, _ body: String, _ fields: [String: String] = [:]) -> Answer {
        Answer(status: status, fields: fields, body: Array(body.utf8))
    }

    static func problem(_ status: Int, _ code: String, _ more: String = "") -> Answer {
        answer(status, #"{"status":\#(status),"code":"\#(code)","retryable":false\#(more)}"#)
    }

    static func busy(_ status: Int, _ code: String? = nil, after: Double? = nil) -> Ruling {
        .again(.serverBusy(status: status, code: code), after: after)
    }

    static func unreadable(_ status: Int) -> Ruling { .again(.unreadableAnswer(status: status), after: nil) }

    static func wrong(_ status: Int, _ code: String? = nil) -> Ruling {
        .again(.requestRefused(status: status, code: code), after: nil)
    }

    static let submitting: [(answer: Answer, ruling: Ruling)] = [
        // Recorded, and only that, confirms: this purchase, and no other.
        (answer(200, #"{"result":"recorded","transactions":[{"transaction_id":"7"}]}"#), .confirmed(nil)),
        (
            answer(200, #"{"result":"already_recorded","transactions":[{"transaction_id":"7"}],"more":{"is":[1]}}"#),
            .confirmed(nil)
        ),
        (answer(200, #"{"result":"recorded","transactions":[]}"#), unreadable(200)),
        (answer(200, #"{"result":"recorded"}"#), unreadable(200)),
        (
            answer(200, #"{"result":"recorded","transactions":[{"transaction_id":"6","decision":"recorded"}]}"#),
            unreadable(200)
        ),
        (answer(200, #"{"result":"already_recorded","transactions":[{"decision":"recorded"}]}"#), unreadable(200)),
        (
            answer(
                200,
                #"{"result":"recorded","transactions":[{"transaction_id":"6","decision":"recorded"},"#
                    + #"{"transaction_id":"7","decision":"owned_by_another_customer"}]}"#
            ), .confirmed(.ownedByAnotherCustomer)
        ),
        (
            answer(200, #"{"result":"recorded","transactions":[{"transaction_id":"7","decision":"new"}]}"#),
            .confirmed(Decision(rawValue: "new"))
        ),
        // A network that wants a login, a proxy, a server of another kind.
        (answer(200, "<html>Welcome</html>"), unreadable(200)), (answer(200, ""), unreadable(200)),
        (answer(200, "{}"), unreadable(200)), (answer(200, #"{"result":"ok"}"#), unreadable(200)),
        (answer(200, #"{"result":"Recorded"}"#), unreadable(200)), (answer(200, #"{"result":true}"#), unreadable(200)),
        (answer(200, #"{"result":"recorded""#), unreadable(200)), (answer(200, #"["recorded"]"#), unreadable(200)),
        (answer(200, #"{"result":"pending","submission_id":"\#(submission)"}"#), unreadable(200)),
        (answer(201, #"{"result":"recorded"}"#), unreadable(201)), (answer(204, ""), unreadable(204)),
        // Kept.
        (
            answer(202, #"{"result":"pending","submission_id":"\#(submission)"}"#), .pending(submission: submission)
        ),
        (answer(202, #"{"result":"pending"}"#), unreadable(202)),
        (answer(202, #"{"result":"pending","submission_id":"../../secrets"}"#), unreadable(202)),
        (answer(202, #"{"result":"pending","submission_id":"\#(submission.uppercased())"}"#), unreadable(202)),
        (answer(202, #"{"result":"recorded"}"#), unreadable(202)), (answer(202, "accepted"), unreadable(202)),
        // Refused, and only by the server itself.
        (
            problem(422, "refused", #","verdict":"forged","reason":"not_authentic""#),
            .refused(verdict: "forged", reason: "not_authentic")
        ),
        (
            problem(422, "refused", #","verdict":"not_yours","reason":"other_product""#),
            .refused(verdict: "not_yours", reason: "other_product")
        ),
        (
            answer(200, #"{"result":"nothing_to_record","transactions":[]}"#),
            .refused(verdict: "nothing_to_record", reason: "nothing_to_record")
        ),
        (answer(422, "<html></html>"), wrong(422)),
        (problem(422, "validation_failed"), wrong(422, "validation_failed")),
        // Not the purchase's fault.
        (problem(400, "invalid_request"), wrong(400, "invalid_request")), (answer(400, ""), wrong(400)),
        (
            problem(401, "unauthorized"),
            .again(.keyRefused(status: 401, code: "unauthorized"), after: nil)
        ),
        (
            problem(403, "customer_token_invalid"),
            .again(.keyRefused(status: 403, code: "customer_token_invalid"), after: nil)
        ),
        (answer(404, "not found"), wrong(404)), (problem(404, "not_found"), wrong(404, "not_found")),
        (answer(405, ""), wrong(405)), (answer(409, ""), wrong(409)),
        (problem(413, "body_too_large"), wrong(413, "body_too_large")),
        (answer(415, ""), wrong(415)), (answer(431, ""), wrong(431)),
        (answer(301, "", ["Location": "https://elsewhere.example/"]), wrong(301)), (answer(307, ""), wrong(307)),
        (answer(100, ""), wrong(100)),
        // Later.
        (problem(408, "body_too_slow"), busy(408, "body_too_slow")), (answer(425, ""), busy(425)),
        (answer(429, "", ["Retry-After": "7"]), busy(429, after: 7)),
        (answer(500, ""), busy(500)), (problem(503, "storage_full"), busy(503, "storage_full")),
        (answer(503, "", ["RETRY-AFTER": "Sun, 06 Nov 1994 08:50:37 GMT"]), busy(503, after: 60)),
        (answer(502, "<html>"), busy(502)), (answer(504, "", ["retry-after": "soon"]), busy(504)),
        (answer(599, ""), busy(599)),
    ]

    @Test(arguments: submitting.indices)
    func anAnswerToAPurchaseMeansOneThing(row: Int) {
        let (answer, ruling) = Self.submitting[row]
        #expect(Ruling(submitting: "7", answer, at: Self.now) == ruling)
    }

    static let asking: [(answer: Answer, ruling: Ruling)] = [
        (answer(200, #"{"submission_id":"\#(submission)","result":"pending"}"#), .pending(submission: submission)),
        (answer(200, #"{"result":"decided","verdict":"genuine"}"#), .decided),
        (answer(200, #"{"result":"decided","verdict":"forged"}"#), .decided),
        (answer(200, #"{"result":"given_up","reason":"waited_too_long"}"#), .decided),
        (problem(404, "not_found"), .decided),
        (answer(404, "<html>"), wrong(404)), (problem(404, "no_route"), wrong(404, "no_route")),
        // A question confirms and refuses nothing.
        (answer(200, #"{"result":"recorded"}"#), unreadable(200)), (answer(200, "<html>"), unreadable(200)),
        (answer(202, #"{"result":"pending"}"#), unreadable(202)),
        (problem(422, "refused", #","verdict":"forged","reason":"x""#), wrong(422, "refused")),
        (answer(503, "", ["Retry-After": "3"]), busy(503, after: 3)),
        (answer(401, ""), .again(.keyRefused(status: 401, code: nil), after: nil)),
    ]

    @Test(arguments: asking.indices)
    func anAnswerToAQuestionMeansOneThing(row: Int) {
        let (answer, ruling) = Self.asking[row]
        #expect(Ruling(asking: Self.submission, answer, at: Self.now) == ruling)
    }

    @Test(arguments: [
        ("0", 0), ("120", 120), ("99999999999999999999999", 9_999_999_999), ("", nil), ("-1", nil), ("1.5", nil),
        (" 5", nil),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 09:49:37 GMT", 3_600),
        ("Sat, 05 Nov 1994 08:49:37 GMT", 0), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 08:49:37", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
        ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
    ])
    func aPauseIsReadInBothForms(text: String, seconds: Double?) {
        #expect(RetryAfter.seconds(Self.answer(503, "", ["Retry-After": text]), at: Self.now) == seconds)
    }

    /// A device that is days behind does not wait for days.
    @Test func aDateCountsFromTheServersOwn() {
        let fields = ["Retry-After": "Tue, 10 Nov 2026 00:01:00 GMT", "Date": "Tue, 10 Nov 2026 00:00:00 GMT"]
        #expect(RetryAfter.seconds(Self.answer(503, "", fields), at: Self.now) == 60)
    }

    @Test(arguments: [
        ("forged", true), ("malformed", true), ("nothing_to_record", false), ("not_yours", false),
        ("test_signed", false),
        ("undecidable", false), ("a_new_word", false), ("", false),
    ])
    func someRefusalsTheShopCanMend(verdict: String, doubtsProof: Bool) {
        #expect(Refusal(verdict: verdict, reason: "", at: Self.now).doubtsProof == doubtsProof)
    }
}
