import Encoding
import Pipeline
import PurchaseModel
import Storage

/// `assay rebuild`: makes again what follows from what is recorded, and shows or writes what differs.
struct Rebuild {
    let place: LedgerPlace
    let apps: [AppPolicy]
    let isApplied: Bool
    let isJSON: Bool
    let now: Timestamp

    init(_ configuration: Configuration, _ arguments: Arguments, at now: Timestamp) {
        place = LedgerPlace(configuration)
        apps = ServeSettings(configuration).apps
        isApplied = arguments.isSet("apply")
        isJSON = arguments.isSet("json")
        self.now = now
    }

    func run() async -> Int32 {
        let rebuild = LedgerRebuild(apps: apps, at: now)
        do {
            let report: RebuildReport
            if isApplied {
                // An older schema is brought up to date by migrate, knowingly.
                await (try place.openToRead()).close()
                let store = try await place.openToWrite()
                let result: Result<RebuildReport, StoreFailure>
                do throws(StoreFailure) {
                    result = .success(try await rebuild.apply(to: store))
                } catch {
                    result = .failure(error)
                }
                await store.close()
                report = try result.get()
            } else {
                let ledger = try await place.openToRead()
                let result: Result<RebuildReport, StoreFailure>
                do throws(StoreFailure) {
                    let report = try await ledger.read { reader throws(StoreFailure) in try rebuild.compare(reader) }
                    result = .success(report)
                } catch {
                    result = .failure(error)
                }
                await ledger.close()
                report = try result.get()
            }
            Console.write(
                isJSON
                    ? RebuildJSON.line(report, isApplied: isApplied)
                    : Array(RebuildText.text(report, of: place, isApplied: isApplied).utf8)
            )
            return report.left > 0 || !isApplied && report.differences > 0 ? 1 : 0
        } catch {
            Console.error("assay rebuild: \(ReportText.printable(place.shown)): \(StoreSentence.of(error))")
            return 2
        }
    }
}

/// What a rebuild has found, for people: a line for each row.
enum RebuildText {
    static func text(_ report: RebuildReport, of place: LedgerPlace, isApplied: Bool) -> String {
        var text = report.listed.map { "\(line($0))\n" }.joined()
        let unlisted = report.differences + report.left - report.listed.count
        if unlisted > 0 { text += "and \(unlisted) more\n" }
        let word = isApplied ? "rebuilt" : "to rebuild"
        text += """
            \(report.transactions) transactions and \(report.wallets) wallets looked at in \
            \(ReportText.printable(place.shown)), \(report.differences) \(word), \(report.left) left\n
            """
        guard !report.told.isEmpty else { return text }
        let told = report.told.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
        return text + (isApplied ? "told: " : "would tell: ") + told + "\n"
    }

    private static func line(_ difference: LedgerDifference) -> String {
        let line =
            switch difference {
            case .wallet(let stored, let rebuilt):
                "wallet \(name(rebuilt.key)): \(stored.map(balance) ?? "none") → \(balance(rebuilt))"
            case .fulfilment(let stored, let rebuilt, let told):
                "fulfilment \(name(rebuilt.transaction)): \(stored.map(words) ?? "none") → \(words(rebuilt))"
                    + (told.isEmpty ? "" : "; \(told.map(\.rawValue).joined(separator: ", "))")
            case .subscription(let stored, let rebuilt):
                "subscription \(name(rebuilt.chain)): \(stored.map(words) ?? "none") → \(words(rebuilt))"
            case .figures(let app, let count): "figures app=\(app): \(count) differ from what the rows come to"
            case .leftFigures(let app, let why): "left figures app=\(app): \(why); assay check says more"
            case .leftSubscription(let chain, let why):
                "left subscription \(name(chain)): \(why); assay check says more"
            case .leftTransaction(let key, let why): "left fulfilment \(name(key)): \(why); assay check says more"
            case .leftWallet(let key, let why): "left wallet \(name(key)): \(why); assay check says more"
            case .leftApp(let app): "left app=\(app): it is not configured"
            }
        return ReportText.printable(line)
    }

    private static func name(_ key: TransactionKey) -> String {
        "app=\(key.app) environment=\(key.realm.environment.rawValue)"
            + (key.realm.isTestSigned ? " test_signed=true" : "") + " transaction_id=\(key.id)"
    }

    private static func name(_ key: WalletKey) -> String {
        "app=\(key.app) environment=\(key.realm.environment.rawValue)"
            + (key.realm.isTestSigned ? " test_signed=true" : "") + " customer_id=\(key.customer)"
            + " currency=\(key.currency)"
    }

    private static func name(_ chain: ChainKey) -> String {
        "app=\(chain.app) environment=\(chain.realm.environment.rawValue)"
            + (chain.realm.isTestSigned ? " test_signed=true" : "") + " original_transaction_id=\(chain.original)"
    }

    private static func words(_ subscription: RecordedSubscription) -> String {
        let period = subscription.current.map { "period \($0)" } ?? "no period"
        let end = subscription.expiresAt.flatMap { RFC3339.text(milliseconds: $0.milliseconds) } ?? "no known end"
        return "\(period) of \(subscription.product) until \(end)"
    }

    private static func balance(_ wallet: Wallet) -> String {
        "balance \(wallet.balance), uncollected \(wallet.uncollected), \(wallet.postings) postings"
    }

    /// Such as `granted to anna (premium until …, 100 gems)`.
    private static func words(_ row: Fulfilment) -> String {
        var words = row.state.rawValue
        if let reason = row.reason { words += " (\(reason.rawValue))" }
        if let customer = row.customer { words += " to \(customer)" }
        let goods = row.goodsByNow.map { goods in
            switch goods {
            case .entitlement(let id, nil): "\(id)"
            case .entitlement(let id, let until?): "\(id) until \(TransactionJSON.text(until) ?? "-")"
            case .amount(let amount):
                "\(amount.amount) \(amount.currency)"
                    + (amount.reversed > 0 ? ", \(amount.reversed) back, \(amount.left) left" : "")
                    + (amount.uncollected > 0 ? ", \(amount.uncollected) missing" : "")
            }
        }
        return goods.isEmpty ? words : words + " [" + goods.joined(separator: "; ") + "]"
    }
}
