import AppStore
import PurchaseModel
import Verification

/// What Apple says in one run of a job, each thing asked for once: all who wait for the same are told the same.
struct AppleHearing {
    let account: AppleAccount
    private let urgency: AppleUrgency
    private var transactions: [TransactionID: Result<Found<Verified<Proof>>, AppStoreFailure>] = [:]
    private var receipts: [[UInt8]: ReceiptResult] = [:]

    init(_ account: AppleAccount, for urgency: AppleUrgency) {
        self.account = account
        self.urgency = urgency
    }

    mutating func transaction(
        _ id: TransactionID,
        in store: StoreEnvironment? = nil
    ) async throws(AppStoreFailure) -> Found<Verified<Proof>> {
        if let heard = transactions[id] { return try heard.get() }
        do throws(AppStoreFailure) {
            let found = try await account.server.transaction(id, in: store, for: urgency)
            transactions[id] = .success(found)
            return found
        } catch {
            transactions[id] = .failure(error)
            throw error
        }
    }

    mutating func receipt(_ bytes: [UInt8], _ options: VerifyReceiptCall.Options) async -> ReceiptResult {
        if let heard = receipts[bytes] { return heard }
        var options = options
        options.urgency = urgency
        let result = await account.receipts.verify(bytes, of: account.credentials, options: options)
        receipts[bytes] = result
        return result
    }
}
