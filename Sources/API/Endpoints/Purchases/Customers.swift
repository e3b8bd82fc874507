import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/customers/{id}/…`: what a customer may use and has.
struct Customers: Sendable {
    private let store: any Store
    private let clock: any WallClock
    /// `nil` where others write, too.
    private let answers: EntitlementAnswers?

    init(store: any Store, clock: any WallClock) {
        self.store = store
        self.clock = clock
        answers = store.entitlementMarks.map { EntitlementAnswers($0) }
    }

    /// `GET /v1/customers/{id}/entitlements`
    func entitlements(of text: String, _ request: HTTPRequest, app: AppPolicy) async -> HTTPResponse {
        guard let customer = CustomerID(text) else { return Problem.notFound("customer") }
        let question = EntitlementAnswers.Question(app: app.id, customer: customer, sight: app.sight)
        let now = clock.now
        if let kept = answers?.answer(to: question, at: now) { return kept.answer(to: request) }
        let write = answers?.lastWrite ?? 0
        do throws(StoreFailure) {
            let (chains, inForce) = try await store.read { reader throws(StoreFailure) in
                let chains = try reader.chains(app: app.id, customer: customer).filter { app.shows($0.realm) }
                let granted = try reader.grantedEntitlements(app: app.id, customer: customer)
                let shown = granted.filter { app.shows($0.key.realm) }
                return (chains, try Holdings(chains, reader).entitlements(and: shown, at: now))
            }
            let answer = EntityTag.Tagged(Self.answer(customer, inForce))
            answers?.keep(answer, to: question, of: inForce, from: chains, since: write, at: now)
            return answer.answer(to: request)
        } catch {
            return Problem.store(error)
        }
    }

    private static func answer(_ customer: CustomerID, _ inForce: [Entitlement]) -> HTTPResponse {
        .json(.ok) { json in
            json.member("customer_id", customer.text)
            json.array("entitlements") { json in
                for entitlement in inForce { json.object { write(entitlement, into: &$0) } }
            }
        }
    }

    private static func write(_ entitlement: Entitlement, into json: inout JSONObjectWriter) {
        json.member("entitlement", entitlement.id.text)
        json.member("until", entitlement.until)
        json.member("product_id", entitlement.purchase?.product.text)
        json.member("transaction_id", entitlement.purchase?.transaction.description)
        if entitlement.purchase == nil { json.member("granted_by_hand", true) }
        json.member("environment", entitlement.realm.environment.rawValue)
        if entitlement.realm.isTestSigned { json.member("test_signed", true) }
    }

    /// `GET /v1/customers/{id}/balances`
    func balances(of text: String, app: AppPolicy) async -> HTTPResponse {
        guard let customer = CustomerID(text) else { return Problem.notFound("customer") }
        do throws(StoreFailure) {
            let wallets = try await store.read { reader throws(StoreFailure) in
                try reader.wallets(app: app.id, customer: customer).filter { app.shows($0.key.realm) }
            }
            return .json(.ok) { json in
                json.member("customer_id", customer.text)
                json.array("balances") { json in
                    for wallet in wallets { json.object { Customers.write(wallet, into: &$0) } }
                }
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `GET /v1/customers/{id}/balances/{currency}/postings`, the newest first; `?before=` the number of the last one.
    func postings(of path: PathParameters, _ query: String?, app: AppPolicy) async -> HTTPResponse {
        guard let customer = path["id"].flatMap({ CustomerID($0) }),
            let currency = path["currency"].flatMap({ CurrencyID($0) })
        else { return Problem.notFound("balance") }
        do throws(QueryFields.Fault) {
            let fields = try QueryFields(query, names: ["limit", "before", "environment", "test_signed"])
            let wallet = WalletKey(app: app.id, realm: try fields.realm(), customer: customer, currency: currency)
            let before = try fields.whole("before", 1...Int64.max)
            guard app.shows(wallet.realm) else { return Problem.notFound("balance") }
            return await postings(of: wallet, before: before, limit: try fields.limit(Wallet.postingsMax))
        } catch {
            return error.response
        }
    }

    private func postings(of wallet: WalletKey, before: Int64?, limit: Int) async -> HTTPResponse {
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.postings(wallet, before: before, limit: limit)
            }
            return .json(.ok) { json in
                json.array("postings") { json in
                    for posting in found { json.object { PostingJSON.write(posting, into: &$0) } }
                }
                if found.count == limit { json.member("next", found.last?.number) }
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `POST /v1/customers/{id}/balances/{currency}/use`: takes no more than there is.
    static func use(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        try adjust(change, transaction, .use, 1...LedgerRequests.amountMax)
    }

    /// `POST /v1/customers/{id}/balances/{currency}/adjust`: gives, or takes, because a person says so.
    static func adjust(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse
    {
        try adjust(change, transaction, .adjustment, -LedgerRequests.amountMax...LedgerRequests.amountMax)
    }

    private static func adjust(
        _ change: Gate.Change,
        _ transaction: any StoreTransaction,
        _ cause: PostingCause,
        _ range: ClosedRange<Int64>
    ) throws(StoreFailure) -> HTTPResponse {
        guard let customer = change.path["id"].flatMap({ CustomerID($0) }),
            let currency = change.path["currency"].flatMap({ CurrencyID($0) })
        else { return Problem.notFound("balance") }
        let amount: Int64
        let realm: Realm
        do throws(RequestBody.Fault) {
            let body = try RequestBody(change.request.body, members: ["amount", "environment", "test_signed"])
            amount = try RequestBody.needed(body.whole("amount", range), "amount")
            guard amount != 0 else { throw RequestBody.Fault(field: "amount", detail: "Zero changes nothing.") }
            realm = try body.realm()
        } catch {
            return error.response
        }
        guard change.app.shows(realm) else { return Problem.notFound("balance") }
        let delta = cause == .use ? -amount : amount
        if delta > 0, let fault = RequestBody.fault(givingTo: customer) { return fault.response }
        let result = try LedgerRequests.adjust(
            WalletKey(app: change.app.id, realm: realm, customer: customer, currency: currency),
            by: delta,
            cause: cause,
            for: change.app,
            at: change.now,
            in: transaction
        )
        switch result {
        case .success(let wallet): return .json(.ok) { write(wallet, into: &$0) }
        case .failure(let fault): return Problem.request(fault, "balance")
        }
    }

    private static func write(_ wallet: Wallet, into json: inout JSONObjectWriter) {
        json.member("currency", wallet.key.currency.text)
        json.member("balance", wallet.balance)
        if wallet.uncollected != 0 { json.member("uncollected", -wallet.uncollected) }
        json.member("environment", wallet.key.realm.environment.rawValue)
        if wallet.key.realm.isTestSigned { json.member("test_signed", true) }
    }
}
