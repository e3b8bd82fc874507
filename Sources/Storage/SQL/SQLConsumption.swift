import PurchaseModel

// What Apple asks, and what it is asked: hands each verb to the file that knows its SQL.
extension SQLTransaction {
    private var consumption: ConsumptionQueries { ConsumptionQueries(connection: connection, apps: apps) }
    private var consent: ConsentQueries { ConsentQueries(connection: connection, apps: apps) }
    private var asking: SupportQueries { SupportQueries(connection: connection, apps: apps) }

    func consumptionRequests(_ keys: [ConsumptionKey]) throws(StoreFailure) -> [ConsumptionRequest] {
        try consumption.find(keys)
    }

    func openConsumptionRequests(of keys: [TransactionKey]) throws(StoreFailure) -> [ConsumptionRequest] {
        try consumption.findOpen(keys)
    }

    func consumptionRequests(
        app: AppID,
        before cursor: ConsumptionCursor?,
        where filter: ConsumptionFilter,
        limit: Int
    ) throws(StoreFailure) -> ConsumptionPage {
        try consumption.list(app: app, before: cursor, where: filter, limit: limit)
    }

    func consents(_ keys: [ConsentKey]) throws(StoreFailure) -> [Consent] { try consent.find(keys) }

    func audit(app: AppID, of subject: AuditSubject) throws(StoreFailure) -> [AuditEntry] {
        try consent.audit(app: app, of: subject)
    }

    func supportRequest(app: AppID, id: SupportRequestID) throws(StoreFailure) -> SupportRequest? {
        try asking.find(app: app, id: id)
    }

    func supportRequests(app: AppID, before cursor: SupportCursor?, limit: Int) throws(StoreFailure) -> SupportPage {
        try asking.list(app: app, before: cursor, limit: limit)
    }

    func put(_ request: SupportRequest) throws(StoreFailure) { try asking.put(request) }
}
