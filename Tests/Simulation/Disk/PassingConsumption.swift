package import PurchaseModel
package import Storage

// What Apple asks, and what it is asked.
extension PassingTransaction {
    package func consumptionRequests(_ keys: [ConsumptionKey]) throws(StoreFailure) -> [ConsumptionRequest] {
        try base.consumptionRequests(keys)
    }

    package func openConsumptionRequests(of keys: [TransactionKey]) throws(StoreFailure) -> [ConsumptionRequest] {
        try base.openConsumptionRequests(of: keys)
    }

    package func consumptionRequests(
        app: AppID,
        before cursor: ConsumptionCursor?,
        where filter: ConsumptionFilter,
        limit: Int
    ) throws(StoreFailure) -> ConsumptionPage {
        try base.consumptionRequests(app: app, before: cursor, where: filter, limit: limit)
    }

    package func consents(_ keys: [ConsentKey]) throws(StoreFailure) -> [Consent] { try base.consents(keys) }

    package func audit(app: AppID, of subject: AuditSubject) throws(StoreFailure) -> [AuditEntry] {
        try base.audit(app: app, of: subject)
    }

    package func supportRequest(app: AppID, id: SupportRequestID) throws(StoreFailure) -> SupportRequest? {
        try base.supportRequest(app: app, id: id)
    }

    package func supportRequests(app: AppID, before cursor: SupportCursor?, limit: Int) throws(StoreFailure)
        -> SupportPage
    {
        try base.supportRequests(app: app, before: cursor, limit: limit)
    }

    package func put(_ request: SupportRequest) throws(StoreFailure) { try base.put(request) }
}
