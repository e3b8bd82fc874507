package import Encoding
package import PurchaseModel

/// A movement in a wallet, as our JSON shows it.
package enum PostingJSON {
    package static func write(_ posting: Posting, into json: inout JSONObjectWriter) {
        json.member("currency", posting.wallet.currency.text)
        json.member("number", posting.number)
        json.member("amount", posting.amount)
        json.member("from", posting.debit.rawValue)
        json.member("to", posting.credit.rawValue)
        json.member("cause", posting.cause.rawValue)
        json.member("transaction_id", posting.transaction?.description)
        json.member("posted_at", posting.at)
    }
}
