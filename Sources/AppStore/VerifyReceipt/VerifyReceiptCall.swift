import AppleFormats
import Encoding
import HTTP
package import PurchaseModel
package import Verification

/// Asks Apple's verifyReceipt, deprecated since 2023 and still answering, about receipts of all ages.
///
/// Production is asked first; the sandbox only on 21007, as App Review needs it; production again on 21008; never more
/// often. Whatever is no answer of Apple's is an outage, never a verdict.
/// ```swift
/// let apple = VerifyReceiptCall(line: AppleLine(caller: caller, clock: clock), verifier: verifier)
/// switch await apple.verify(receipt, of: app) {
/// case .valid(let receipt), .renewable(let receipt): deliver(receipt.transactions)
/// case .expired: …
/// case .refused(let why): …
/// case .unavailable(_, let retryAt): …
/// }
/// ```
/// Source: Apple, *verifyReceipt* of *App Store Receipts*; TN3122.
package struct VerifyReceiptCall: Sendable {
    /// What may be said beside the receipt.
    package struct Options: Sendable {
        /// Of each subscription only the newest transaction: answers are many times shorter.
        package var excludesOldTransactions = false
        /// Whether the receipt's signature has been found good: then a refusal by Apple is a disagreement.
        package var isVerifiedLocally = false
        /// The stores whose receipts are taken.
        package var stores: Set<StoreEnvironment> = [.production, .sandbox]
        /// For one attempt; Apple's sandbox often needs more than ten seconds.
        package var timeout = Duration.seconds(30)
        package var urgency = AppleUrgency.awaited

        package init() {}
    }

    private let line: AppleLine
    private let verifier: Verifier
    private let hosts: AppStoreHosts

    package init(line: AppleLine, verifier: Verifier, hosts: AppStoreHosts = .apple) {
        self.line = line
        self.verifier = verifier
        self.hosts = hosts
    }

    /// - Parameters:
    ///   - receipt: as the device has it: an app receipt, or the text of an iOS 6 receipt; not base64.
    ///   - app: whose receipt it must be, and its shared secret.
    ///   - options: what may be said beside.
    /// - Returns: what Apple said, or that it said nothing.
    package func verify(
        _ receipt: [UInt8],
        of app: AppCredentials,
        options: Options = Options()
    ) async -> ReceiptResult {
        guard !receipt.isEmpty else { return .refused(.empty) }
        let body = VerifyReceiptCall.body(receipt, app.sharedSecret, options)
        var asked: [StoreEnvironment] = []
        var next = StoreEnvironment.production
        while asked.count(where: { $0 == next }) < (next == .production ? 2 : 1) {
            asked.append(next)
            let answer: Answer
            do throws(AppStoreFailure) {
                answer = try await ask(next, body, app, options)
            } catch {
                return VerifyReceiptCall.unavailable(error)
            }
            switch StatusAdvice(answer.status, isRetryable: answer.response.isRetryable) {
            case .askSandbox where next == .production: next = .sandbox
            case .askProduction where next == .sandbox: next = .production
            case .askSandbox, .askProduction: return .unavailable(.hostsDisagree, retryAt: nil)
            case .accept: return read(answer, app, options, hasExpired: false)
            case .acceptExpired: return read(answer, app, options, hasExpired: true)
            case .fixSecret: return .wrongSharedSecret
            case .retry: return .unavailable(.status(answer.status.rawValue), retryAt: nil)
            case .retryThenRefuse, .refuse: return refused(answer, options)
            }
        }
        return .unavailable(.hostsDisagree, retryAt: nil)
    }

    private struct Answer: Sendable {
        let status: VerifyReceiptStatus
        let response: VerifyReceiptResponse
        let body: [UInt8]
        let lane: AppleLane
        let url: String
        let askedAt: Timestamp
    }

    private func ask(
        _ store: StoreEnvironment,
        _ body: [UInt8],
        _ app: AppCredentials,
        _ options: Options
    ) async throws(AppStoreFailure) -> Answer {
        let url = hosts.verifyReceipt(store)
        let call = HTTPCall(
            method: .post,
            url: url,
            fields: ["Content-Type": "application/json", "Accept": "application/json", "User-Agent": "assay"],
            body: body,
            timeout: options.timeout
        )
        let lane = AppleLane(
            app: app.bundleID,
            store: store,
            endpoint: "verify_receipt",
            perSecond: VerifyReceiptCall.perSecond,
            isByKey: false
        )
        return try await line.send(call, on: lane, for: options.urgency) { received throws(AppStoreFailure) in
            let (status, response) = try VerifyReceiptCall.read(received.response)
            // Not those of 21100 to 21199: they may be one receipt's own.
            if [.unavailable, .internalError].contains(status) { throw .troubled(status: status.rawValue) }
            return Answer(
                status: status,
                response: response,
                body: received.response.body,
                lane: lane,
                url: url,
                askedAt: received.askedAt
            )
        }
    }

    /// Apple answers 200 for good and bad receipts; anything else is not its word.
    private static func read(
        _ response: HTTPResponse
    ) throws(AppStoreFailure) -> (VerifyReceiptStatus, VerifyReceiptResponse) {
        guard response.status == .ok else {
            throw response.status.rawValue >= 500 ? .unavailable(response.status) : .unexpected(response.status)
        }
        guard let document = try? JSONDocument(response.body, limits: limits) else {
            throw .unreadable(UnreadableAnswer(of: response.body), response.status)
        }
        guard let answer = try? VerifyReceiptResponse(document), let status = answer.status else {
            throw .unreadable(.shape, response.status)
        }
        // One that shows no receipt of any app's says nothing of what was sent.
        if status.hasReceipt, answer.receipt?.bundleID == nil { throw .unreadable(.shape, response.status) }
        return (status, answer)
    }

    private func read(_ answer: Answer, _ app: AppCredentials, _ options: Options, hasExpired: Bool) -> ReceiptResult {
        let said = ServerAnswer(
            answer.response,
            in: answer.body,
            from: answer.url,
            of: answer.lane.store,
            askedAt: answer.askedAt
        )
        let expecting = Expectation(bundleID: app.bundleID, appleID: app.appleID, environments: options.stores)
        let found = verifier.examine(said, expecting: expecting)
        guard let proof = found.examination.proof else {
            let report = found.examination.report
            line.tell(.untrusted(answer.lane, report.reason))
            return .refused(.notOurs(report.reason, detail: report.detail))
        }
        let latest = answer.response.latestReceipt ?? answer.response.unifiedReceipt?.latestReceipt
        let receipt = AnsweredReceipt(
            store: answer.lane.store,
            proof: proof,
            renewals: found.renewals,
            latestReceipt: latest.flatMap { try? Base64.decode(Array($0.utf8), .standard, padding: .optional) }
        )
        if hasExpired { return .expired(receipt) }
        let renews = latest != nil || receipt.transactions.contains { $0.kind == .autoRenewable }
        return renews ? .renewable(receipt) : .valid(receipt)
    }

    private func refused(_ answer: Answer, _ options: Options) -> ReceiptResult {
        let status = answer.status.rawValue
        // Whose purchase it was may be unknown by now; that is about the account, and no word against the receipt.
        if answer.status == .accountNotFound { return .refused(.accountNotFound) }
        if options.isVerifiedLocally {
            line.tell(.disagreement(answer.lane, status: status))
            return .disagreement(status: status)
        }
        switch answer.status {
        case .malformedReceipt: return .refused(.malformed)
        case .notAuthenticated: return .refused(.notAuthentic)
        default: return .refused(.rejected(status: status))
        }
    }

    private static func unavailable(_ failure: AppStoreFailure) -> ReceiptResult {
        if case .troubled(let status) = failure { return .unavailable(.status(status), retryAt: nil) }
        var moment: Timestamp?
        if case .retryAfter(let told) = failure.remedy { moment = told }
        return .unavailable(.noAnswer(failure), retryAt: moment)
    }

    private static func body(_ receipt: [UInt8], _ secret: String?, _ options: Options) -> [UInt8] {
        JSONWriter.object(reserving: receipt.count * 4 / 3 + 256) { body in
            // Apple takes the standard alphabet in one line only.
            let text = String(decoding: Base64.encode(receipt, .standard, isPadded: true), as: UTF8.self)
            body.member("receipt-data", text)
            body.member("password", secret)
            if options.excludesOldTransactions { body.member("exclude-old-transactions", true) }
        }
    }

    /// Apple names no limit; this one is that of its other look-ups.
    private static let perSecond = 50
    /// A kilobyte for each transaction, and some customers have thousands.
    private static let limits = JSONLimits(bytesMax: 32 << 20, depthMax: 16)
}
