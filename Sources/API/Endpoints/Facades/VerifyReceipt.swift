import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `POST /verifyReceipt` and `POST /sandbox/verifyReceipt`: what a server that asked Apple's two hosts asks now, unchanged
/// but for the address.
///
/// Source: Apple, *verifyReceipt*, *requestBody*, *responseBody* and *status* of *App Store Receipts*.
struct VerifyReceipt: Sendable {
    /// Apple's host whose part is played.
    enum Host: Sendable {
        case production
        /// All that is not production.
        case sandbox

        func takes(_ environment: StoreEnvironment?) -> Bool {
            environment.map { ($0 == .production) == (self == .production) } ?? true
        }
    }

    /// Apple's numbers, as far as they are used.
    enum Status: Int {
        case unreadableRequest = 21_000
        case malformed = 21_002
        case notAuthentic = 21_003
        case wrongSecret = 21_004
        case unavailable = 21_005
        case sandboxReceipt = 21_007
        case productionReceipt = 21_008
        case noSuchPurchase = 21_010
    }

    let gate: Gate
    let proofs: PresentProof
    let clock: any WallClock

    /// By GET nothing is asked, and Apple says so with a number, too: that is how it is seen to be up.
    func routes(_ template: String, _ host: Host) -> [Route] {
        [
            Route(.post, template) { request, _ in await respond(to: request, host) },
            Route(.get, template) { _, _ in Self.answer(.unreadableRequest) },
        ]
    }

    private func respond(to request: HTTPRequest, _ host: Host) async -> HTTPResponse {
        let limits = JSONLimits(bytesMax: request.body.count, depthMax: 3)
        guard let body = try? JSONDocument(request.body, limits: limits).root.object else {
            return Self.answer(.unreadableRequest)
        }
        // The field wins: the password may be Apple's shared secret, which means nothing here.
        let key = KeyRing.bearer(request.fields.single("Authorization")) ?? body["password"]?.utf8.map { Array($0) }
        let caller: Gate.Caller
        switch await gate.admit(key, request, .verifyReceipt) {
        case .success(let admitted): caller = admitted
        case .failure(.notYet): return Self.later(.seconds(1))
        case .failure(.tooOften(_, let wait)), .failure(.tooManyUnknown(let wait)): return Self.later(wait)
        case .failure(.unknown), .failure(.closed): return Self.answer(.wrongSecret)
        }
        guard let receipt = body["receipt-data"]?.utf8.map({ Array($0) }), !receipt.isEmpty else {
            return Self.answer(.malformed)
        }
        let customer = body["customer_id"]?.string.map { CustomerID(given: $0) }
        if case .some(nil) = customer { return Self.answer(.unreadableRequest) }
        let stores = Set(StoreEnvironment.known.filter { host.takes($0) })
        var submission = Submission(
            app: caller.app.limited(to: stores),
            bytes: receipt,
            customer: customer ?? nil
        )
        // Of which store it is decides which host takes it; of which it may be, the key.
        submission.environments = caller.app.sight
        // As at Apple's: a server hands on what any client has sent it.
        submission.mustBeSigned = true
        do throws(StoreFailure) {
            switch try await proofs.present(submission) {
            case .accepted(let purchase):
                guard host.takes(purchase.environment) else { return Self.answer(Self.otherHost(host)) }
                if let customer = submission.customer, purchase.isOfOthers(than: customer) {
                    return Self.answer(.noSuchPurchase)
                }
                let excludesOld = body["exclude-old-transactions"]?.bool ?? false
                let answer = ReceiptAnswer(
                    purchase,
                    sent: receipt,
                    excludesOld: excludesOld,
                    to: submission.customer,
                    at: clock.now
                )
                return .json(.ok) { answer.write(into: &$0) }
            case .refused(let verdict, let reason):
                return Self.answer(status(verdict, reason, of: receipt, caller.app, host))
            case .holdsNothing: return Self.answer(.malformed)
            case .later(let wait), .full(_, let wait): return Self.later(wait)
            }
        } catch {
            return Self.later(.seconds(Int64(Problem.store(error).fields["Retry-After"] ?? "") ?? 30))
        }
    }

    private func status(
        _ verdict: String,
        _ reason: String?,
        of receipt: [UInt8],
        _ app: AppPolicy,
        _ host: Host
    ) -> Status {
        // Of what is signed this is no refusal: it waits.
        if reason == "pending" { return .malformed }
        if reason == "environment_not_accepted" {
            // What is at its own host, and is not taken there, is not sent on to and fro.
            return switch (host, proofs.claimedEnvironment(of: receipt) == .production) {
            case (.production, true), (.sandbox, false): .noSuchPurchase
            case (.production, false): .sandboxReceipt
            case (.sandbox, true): .productionReceipt
            }
        }
        return switch verdict {
        case "malformed": .malformed
        case "not_yours": .noSuchPurchase
        default: .notAuthentic
        }
    }

    private static func otherHost(_ host: Host) -> Status {
        host == .production ? .sandboxReceipt : .productionReceipt
    }

    /// Always 200: the number tells.
    private static func answer(_ status: Status) -> HTTPResponse {
        .json(.ok) { $0.member("status", status.rawValue) }
    }

    /// A temporary trouble, for those who look at HTTP alone and for those who look at the number alone.
    private static func later(_ wait: Duration) -> HTTPResponse {
        .json(.serviceUnavailable, fields: ["Retry-After": Problem.retryText(wait)]) {
            $0.member("status", Status.unavailable.rawValue)
            $0.member("is-retryable", true)
        }
    }
}
