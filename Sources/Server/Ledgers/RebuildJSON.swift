import Encoding
import Pipeline
import PurchaseModel

/// What a rebuild has found as one JSON object on one line: the contract of `assay rebuild --json`.
enum RebuildJSON {
    static func line(_ report: RebuildReport, isApplied: Bool) -> [UInt8] {
        OperatorJSON.line { json in
            json.member("is_applied", isApplied)
            json.member("transactions", report.transactions)
            json.member("wallets", report.wallets)
            json.member("differences", report.differences)
            json.member("left", report.left)
            json.object("told") { json in
                for (type, count) in report.told.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    json.member(type.rawValue, count)
                }
            }
            json.array("listed") { json in
                for difference in report.listed { json.object { write(difference, into: &$0) } }
            }
        }
    }

    private static func write(_ difference: LedgerDifference, into json: inout JSONObjectWriter) {
        switch difference {
        case .wallet(let stored, let rebuilt):
            json.member("kind", "wallet")
            name(rebuilt.key, into: &json)
            if let stored { json.object("stored") { write(stored, into: &$0) } }
            json.object("rebuilt") { write(rebuilt, into: &$0) }
        case .fulfilment(let stored, let rebuilt, let told):
            json.member("kind", "fulfilment")
            name(rebuilt.transaction, into: &json)
            if let stored { json.object("stored") { write(stored, into: &$0) } }
            json.object("rebuilt") { write(rebuilt, into: &$0) }
            json.array("told") { json in for type in told { json.element(type.rawValue) } }
        case .subscription(let stored, let rebuilt):
            json.member("kind", "subscription")
            name(rebuilt.chain, into: &json)
            if let stored { json.object("stored") { write(stored, into: &$0) } }
            json.object("rebuilt") { write(rebuilt, into: &$0) }
        case .figures(let app, let count):
            json.member("kind", "figures")
            json.member("app", app.text)
            json.member("differing", count)
        case .leftTransaction(let key, let why):
            left("fulfilment", why, into: &json)
            name(key, into: &json)
        case .leftWallet(let key, let why):
            left("wallet", why, into: &json)
            name(key, into: &json)
        case .leftSubscription(let chain, let why):
            left("subscription", why, into: &json)
            name(chain, into: &json)
        case .leftFigures(let app, let why):
            left("figures", why, into: &json)
            json.member("app", app.text)
        case .leftApp(let app):
            left("app", "it is not configured", into: &json)
            json.member("app", app.text)
        }
    }

    private static func left(_ kind: String, _ why: String, into json: inout JSONObjectWriter) {
        json.member("kind", kind)
        json.member("left", why)
    }

    // MARK: What a row is called

    private static func side(_ app: AppID, _ realm: Realm, into json: inout JSONObjectWriter) {
        json.member("app", app.text)
        json.member("environment", realm.environment.rawValue)
        json.member("test_signed", realm.isTestSigned)
    }

    private static func name(_ key: TransactionKey, into json: inout JSONObjectWriter) {
        side(key.app, key.realm, into: &json)
        json.member("transaction_id", key.id.description)
    }

    private static func name(_ key: WalletKey, into json: inout JSONObjectWriter) {
        side(key.app, key.realm, into: &json)
        json.member("customer_id", key.customer.text)
        json.member("currency", key.currency.text)
    }

    private static func name(_ chain: ChainKey, into json: inout JSONObjectWriter) {
        side(chain.app, chain.realm, into: &json)
        json.member("original_transaction_id", chain.original.description)
    }

    // MARK: What stands in it

    private static func write(_ wallet: Wallet, into json: inout JSONObjectWriter) {
        json.member("balance", wallet.balance)
        json.member("uncollected", wallet.uncollected)
        json.member("postings", wallet.postings)
    }

    private static func write(_ row: Fulfilment, into json: inout JSONObjectWriter) {
        json.member("state", row.state.rawValue)
        json.member("reason", row.reason?.rawValue)
        json.member("customer_id", row.customer?.text)
        json.array("goods") { json in
            for goods in row.goodsByNow {
                json.object { json in
                    switch goods {
                    case .entitlement(let id, let until):
                        json.member("entitlement", id.text)
                        json.member("until", until)
                    case .amount(let amount):
                        json.member("currency", amount.currency.text)
                        json.member("amount", amount.amount)
                        json.member("reversed", amount.reversed)
                        json.member("uncollected", amount.uncollected)
                    }
                }
            }
        }
    }

    private static func write(_ subscription: RecordedSubscription, into json: inout JSONObjectWriter) {
        json.member("transaction_id", subscription.current?.description)
        json.member("product_id", subscription.product.text)
        json.member("expires_at", subscription.expiresAt)
    }
}
