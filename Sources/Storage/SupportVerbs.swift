package import PurchaseModel

/// The questions about what people had Apple asked.
package protocol SupportReader {
    func supportRequest(app: AppID, id: SupportRequestID) throws(StoreFailure) -> SupportRequest?

    /// An app's requests, the newest first, from a place in the listing on; the limit is brought between 1 and
    /// ``SupportPage/limitMax``.
    func supportRequests(app: AppID, before cursor: SupportCursor?, limit: Int) throws(StoreFailure) -> SupportPage
}

/// What is kept of them.
package protocol SupportVerbs: SupportReader {
    /// Writes a request: the first version is new, any other takes the place of the one before.
    ///
    /// - Throws: ``StoreFailure/conflict`` when somebody else was faster; ``StoreFailure/unstorable``.
    func put(_ request: SupportRequest) throws(StoreFailure)
}
