import Simulator
import PurchaseModel

extension Audit {
    /// Balances are the sums of their postings, and those are what was granted less what was taken back.
    func checkWallets() {
        var credited: [TransactionID: Int64] = [:]
        for (key, wallet) in store.wallets {
            let postings = store.postings[key] ?? []
            expect(
                postings.map(\.number) == (0..<postings.count).map { Int64($0 + 1) },
                "I8 ledger",
                "postings of \(key.customer) have a gap"
            )
            expect(wallet.postings == Int64(postings.count), "I8 ledger", "\(key.customer) counts other postings")
            expect(sum(postings, .balance) == wallet.balance, "I8 ledger", "the balance of \(key.customer)")
            expect(sum(postings, .uncollected) == wallet.uncollected, "I8 ledger", "what \(key.customer) owes")
            let all = WalletAccount.allCases.reduce(0) { $0 + sum(postings, $1) }
            expect(all == 0, "I8 ledger", "the accounts of \(key.customer) add up to \(all)")
            for posting in postings {
                guard let id = posting.transaction else { continue }
                credited[id, default: 0] += effect(of: posting, on: .balance)
                let environment = sold[id]?.environment
                expect(environment == key.realm.environment, "I11 environment wall", "\(id) moves \(key.realm)")
            }
        }
        for row in store.fulfilments.values {
            let granted = row.goods.reduce(Int64(0)) { sum, goods in
                guard case .amount(let amount) = goods else { return sum }
                return sum + amount.amount - amount.reversed
            }
            let found = credited[row.transaction.id] ?? 0
            expect(found == granted, "I4 credited once", "\(row.transaction.id) credits \(found), not \(granted)")
        }
    }

    private func sum(_ postings: [Posting], _ account: WalletAccount) -> Int64 {
        postings.reduce(0) { $0 + effect(of: $1, on: account) }
    }

    private func effect(of posting: Posting, on account: WalletAccount) -> Int64 {
        (posting.credit == account ? posting.amount : 0) - (posting.debit == account ? posting.amount : 0)
    }
}
