import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `POST /v1/transfers`: makes a purchase, with its renewals, another customer's. The same towards the one that it came
/// from undoes it.
enum Transfers {
    static func transfer(
        _ change: Gate.Change,
        _ transaction: any StoreTransaction
    ) throws(StoreFailure) -> HTTPResponse {
        let chain: ChainKey
        let customer: CustomerID
        let overrulesToken: Bool
        let isDryRun: Bool
        do throws(RequestBody.Fault) {
            let body = try RequestBody(
                change.request.body,
                members: [
                    "original_transaction_id", "to_customer_id", "environment", "test_signed", "overrule_account_token",
                    "dry_run",
                ]
            )
            guard let original = try body.text("original_transaction_id").flatMap({ TransactionID($0) }) else {
                throw RequestBody.Fault(
                    field: "original_transaction_id",
                    detail: "The number of a purchase's first transaction is needed."
                )
            }
            chain = ChainKey(app: change.app.id, realm: try body.realm(), original: original)
            customer = try RequestBody.needed(body.identifier("to_customer_id"), "to_customer_id")
            overrulesToken = try body.bool("overrule_account_token") ?? false
            isDryRun = try body.bool("dry_run") ?? false
        } catch {
            return error.response
        }
        guard change.app.shows(chain.realm) else { return Problem.notFound("purchase") }
        let result = try LedgerRequests.transfer(
            chain,
            to: customer,
            overrulesToken: overrulesToken,
            isDryRun: isDryRun,
            at: change.now,
            in: transaction
        )
        switch result {
        case .success(let owner):
            return .json(.ok) { json in
                json.member("original_transaction_id", chain.original.description)
                json.member("from_customer_id", owner.previous?.text)
                json.member("to_customer_id", owner.customer.text)
                json.member("is_dry_run", isDryRun)
            }
        case .failure(let fault): return Problem.request(fault, "purchase")
        }
    }
}
