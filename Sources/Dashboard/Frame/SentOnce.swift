import Crypto
import HTTP
import PurchaseModel
import Storage

/// A form that does something once, however often it is sent: its name is kept in the commit that it led to.
struct SentOnce: Sendable {
    static let field: StaticString = "once"

    /// Of two who change the same at once one is told to try again; here the server does, once.
    private static let triesMax = 2

    /// What became of it.
    enum Ending<Value: Sendable, Fault: Error>: Sendable {
        case done(Value)
        /// The same form was sent before, and did it then.
        case again
        /// A form of this name was sent before, and said something else.
        case otherForm
        case refused(Fault)
    }

    private let name: IdempotencyName
    private let fingerprint: [UInt8]

    /// `nil` when the form carries no name that we gave.
    ///
    /// - Parameter visit: the form as it was sent.
    init?(_ visit: Visit) {
        guard let token = Token(visit.fields[Self.field.description].utf8) else { return nil }
        // An account's name may be as long as a holder's; its digest never is.
        let admin = Digest.sha256(Array(visit.account.name.text.utf8)).prefix(16)
        let digits = admin.map { String($0) }.joined(separator: ".")
        name = IdempotencyName(holder: "dashboard \(digits)", key: token.text)
        fingerprint = Digest.sha256(Array(visit.request.path.utf8) + [0] + visit.request.body)
    }

    /// Whether it was sent before: `nil` when it was not, else whether it said the same.
    func wasSent(_ reader: any StoreReader) throws(StoreFailure) -> Bool? {
        try reader.keptAnswer(name).map { $0.fingerprint == fingerprint }
    }

    func keep(at now: Timestamp, in write: any StoreTransaction) throws(StoreFailure) {
        try write.keepAnswer(
            KeptAnswer(
                name: name,
                fingerprint: fingerprint,
                status: 303,
                contentType: "text/html",
                body: [],
                keptAt: now
            )
        )
    }

    /// Does what the form asks for, in one commit with its line in the log.
    ///
    /// - Parameters:
    ///   - store: where it is done.
    ///   - now: the moment.
    ///   - body: does it, and says it for the log; it may be run more than once. What it refuses it has not begun.
    /// - Returns: what became of it.
    /// - Throws: `StoreFailure`; then nothing was done.
    func carryOut<Value: Sendable, Fault: Error>(
        in store: any Store,
        at now: Timestamp,
        _ body:
            @escaping @Sendable (any StoreTransaction) throws(StoreFailure)
            -> Result<(value: Value, action: AdminAction), Fault>
    ) async throws(StoreFailure) -> Ending<Value, Fault> {
        for _ in 1..<Self.triesMax {
            if let ending = try await attempt(in: store, at: now, body) { return ending }
        }
        return try await write(to: store, at: now, body)
    }

    /// `nil` when somebody else was faster.
    private func attempt<Value: Sendable, Fault: Error>(
        in store: any Store,
        at now: Timestamp,
        _ body:
            @escaping @Sendable (any StoreTransaction) throws(StoreFailure)
            -> Result<(value: Value, action: AdminAction), Fault>
    ) async throws(StoreFailure) -> Ending<Value, Fault>? {
        do throws(StoreFailure) {
            return try await write(to: store, at: now, body)
        } catch .conflict {
            return nil
        }
    }

    private func write<Value: Sendable, Fault: Error>(
        to store: any Store,
        at now: Timestamp,
        _ body:
            @escaping @Sendable (any StoreTransaction) throws(StoreFailure)
            -> Result<(value: Value, action: AdminAction), Fault>
    ) async throws(StoreFailure) -> Ending<Value, Fault> {
        try await store.write { write throws(StoreFailure) -> Ending<Value, Fault> in
            if let isSame = try wasSent(write) { return isSame ? .again : .otherForm }
            switch try body(write) {
            case .failure(let fault): return .refused(fault)
            case .success(let deed):
                try write.noteAdminAction(deed.action)
                try keep(at: now, in: write)
                return .done(deed.value)
            }
        }
    }
}
