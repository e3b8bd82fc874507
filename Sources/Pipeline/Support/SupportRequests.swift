import Crypto
package import Encoding
import Jobs
package import PurchaseModel
package import Storage

/// Takes in what people have Apple asked: a row, and the job that asks, in one write. Nobody waits for Apple.
package struct SupportQueue: Sendable {
    package let enqueue: @Sendable (SupportRequest, any JobVerbs) throws(StoreFailure) -> Void

    package init(enqueue: @escaping @Sendable (SupportRequest, any JobVerbs) throws(StoreFailure) -> Void) {
        self.enqueue = enqueue
    }

    /// For what has no jobs: requests are kept, and never asked.
    package static let none = SupportQueue { _, _ in }

    /// - Parameters:
    ///   - question: what to ask.
    ///   - app: whose.
    ///   - actor: who asks.
    ///   - now: the moment.
    ///   - transaction: the write.
    /// - Returns: the request, by whose name the answer is asked for later.
    /// - Throws: `StoreFailure`.
    package func take(
        _ question: SupportQuestion,
        for app: AppID,
        by actor: String,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> SupportRequest {
        let request = SupportRequest(
            app: app,
            id: SupportRequestID(checked: SupportRequestID.prefix + Hexadecimal.encode(SecureRandom.bytes(16))),
            kind: question.kind,
            askedBy: actor,
            askedAt: now,
            question: question.json
        )
        try transaction.put(request)
        try enqueue(request, transaction)
        return request
    }
}

/// A support request, as our JSON shows it.
package enum SupportJSON {
    package static func write(_ request: SupportRequest, into json: inout JSONObjectWriter) {
        json.member("id", request.id.text)
        json.member("kind", request.kind)
        json.member("state", request.state.rawValue)
        json.member("asked_by", request.askedBy)
        json.member("asked_at", request.askedAt)
        json.member("question", value(request.question))
        json.member("answer", request.answer.flatMap(value))
        json.member("settled_at", request.settledAt)
    }

    /// On which side of the wall it was asked.
    package static func realm(of request: SupportRequest) -> Realm {
        let environment = value(request.question)?.object?["environment"]?.string.map(StoreEnvironment.init(rawValue:))
        return Realm(environment: environment ?? .production, isTestSigned: false)
    }

    /// What was written by ourselves.
    private static func value(_ bytes: [UInt8]) -> JSONValue? { try? JSONDocument(bytes).root }
}
