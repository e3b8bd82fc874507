package import PurchaseModel
package import Storage

// What a customer has, and what waits, page by page, which no planted bug changes.
extension PassingTransaction {
    package func waitingFulfilments(
        app: AppID,
        on sides: Set<Realm>?,
        after cursor: FulfilmentCursor?,
        limit: Int
    ) throws(StoreFailure) -> FulfilmentPage {
        try base.waitingFulfilments(app: app, on: sides, after: cursor, limit: limit)
    }

    package func transactions(
        app: AppID,
        customer: CustomerID,
        order: ListingOrder,
        after cursor: TransactionCursor?,
        limit: Int,
        where isListed: (Realm) -> Bool
    ) throws(StoreFailure) -> TransactionPage {
        try base.transactions(
            app: app,
            customer: customer,
            order: order,
            after: cursor,
            limit: limit,
            where: isListed
        )
    }
}
