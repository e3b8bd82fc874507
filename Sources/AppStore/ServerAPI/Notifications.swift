package import AppleFormats
package import PurchaseModel
package import Verification

/// A notification that Apple has sent, proved, and how its delivery went.
package struct NotificationRecord: Sendable {
    /// Its bytes as they were signed: what arrives at our own endpoint is the same.
    package let signedPayload: String
    package let proof: Verified<Proof>
    package let attempts: [SentNotification.Attempt]

    /// Apple's word for how delivering it went: `SUCCESS` if it ever did, else that of the last attempt; `nil` before the
    /// first one.
    package var result: String? {
        if attempts.contains(where: { $0.result == .success }) { return AppleSendResult.success.rawValue }
        return attempts.max { ($0.date ?? 0) < ($1.date ?? 0) }?.result?.rawValue
    }
}

/// One page of the notification history.
package struct NotificationHistoryPage: ContinuedPage {
    package let records: [NotificationRecord]
    /// Those that do not verify: one of a kind that we do not know must not hide the others.
    package let unproved: [String]
    /// What Apple's clock showed, to the second; `nil` if the answer does not say. A stretch that ends later has ended then.
    package let answeredAt: Timestamp?
    package let hasMore: Bool
    package let continuation: String?
}

// What Apple has told us, or tried to.
extension AppStoreServerClient {
    /// Get Notification History: version 2 only, 180 days back, in the sandbox 30.
    ///
    /// - Parameters:
    ///   - request: the same for all pages.
    ///   - token: of the page before; `nil` for the first.
    ///   - store: where.
    /// - Returns: at most twenty, proved.
    /// - Throws: ``AppStoreFailure``.
    package func notificationPage(
        _ request: NotificationHistoryRequest,
        after token: String? = nil,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) -> NotificationHistoryPage {
        guard request.startDate < request.endDate else { throw .invalidRequest(field: "startDate") }
        let query = token.map { [(name: "paginationToken", value: $0)] } ?? []
        let question = Request(endpoint: .notifications, query: query, body: request.json)
        let (answer, answeredAt) = try await send(question, in: store) { response throws(AppStoreFailure) in
            let now = line.now
            let received = ReceivedAnswer(response: response, sentAt: now, receivedAt: now)
            return (try ServerAnswers.read(response, as: NotificationHistoryAnswer.self), received.date)
        }
        var records: [NotificationRecord] = []
        var unproved: [String] = []
        for sent in answer.notifications {
            if let record = try? record(sent, store, .notifications) {
                records.append(record)
            } else {
                unproved.append(sent.signedPayload)
            }
        }
        return NotificationHistoryPage(
            records: records,
            unproved: unproved,
            answeredAt: answeredAt,
            hasMore: answer.hasMore,
            continuation: answer.paginationToken
        )
    }

    /// The whole of it, page after page, in the order of sending.
    package func notifications(
        _ request: NotificationHistoryRequest,
        after token: String? = nil,
        in store: StoreEnvironment
    ) -> VerifiedPages<NotificationHistoryPage> {
        VerifiedPages(first: token, pagesMax: Self.pagesMax) { continuation throws(AppStoreFailure) in
            try await notificationPage(request, after: continuation, in: store)
        }
    }

    /// Request a Test Notification: Apple sends one to the address that is set for the app.
    ///
    /// - Returns: what to ask with how it went.
    package func requestTestNotification(in store: StoreEnvironment) async throws(AppStoreFailure) -> String {
        let request = Request(endpoint: .requestTest)
        return try await answer(request, in: store, as: TestNotificationAnswer.self).testNotificationToken
    }

    /// Get Test Notification Status; 4040008 until Apple has sent it.
    package func testNotification(
        _ token: String,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) -> NotificationRecord {
        guard (1...256).contains(token.utf8.count) else { throw .invalidRequest(field: "testNotificationToken") }
        let request = Request(endpoint: .testStatus, segments: [token])
        return try record(try await answer(request, in: store, as: SentNotification.self), store, .testStatus)
    }

    private func record(
        _ sent: SentNotification,
        _ store: StoreEnvironment,
        _ endpoint: ServerEndpoint
    ) throws(AppStoreFailure) -> NotificationRecord {
        let proof = try prove(sent.signedPayload, .jwsNotification, from: store, endpoint)
        return NotificationRecord(signedPayload: sent.signedPayload, proof: proof, attempts: sent.attempts)
    }
}
