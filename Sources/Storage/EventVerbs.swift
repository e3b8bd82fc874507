package import PurchaseModel

/// The questions about events.
package protocol EventReader {
    func event(app: AppID, id: EventID) throws(StoreFailure) -> PlacedEvent?

    /// The sequence of each stream's last event. Streams without any are left out.
    func lastEventSequences(_ streams: [StreamKey]) throws(StoreFailure) -> [StreamKey: Int64]

    /// The end of an app's feed: the place of its last event, whatever that is; ``EventCursor/start`` when there is none.
    func lastEventCursor(app: AppID) throws(StoreFailure) -> EventCursor

    /// An app's events after a place in its feed, in commit order.
    ///
    /// Whoever goes on from ``EventPage/next`` sees each event once and misses none, however many write at the same
    /// time: no event is committed later at a place that was passed.
    ///
    /// - Parameters:
    ///   - app: whose feed.
    ///   - cursor: where to go on; ``EventCursor/start`` for all.
    ///   - filter: which ones; places of others are passed over.
    ///   - limit: brought between 1 and ``EventPage/limitMax``.
    /// - Returns: also an empty page may say that there is more: at most ``EventPage/lookedAtMax`` places are looked at.
    /// - Throws: ``StoreFailure/unstorable`` for a filter of more than ``EventFilter/typesMax`` types.
    func events(
        app: AppID,
        after cursor: EventCursor,
        where filter: EventFilter,
        limit: Int
    ) throws(StoreFailure) -> EventPage
}

extension EventReader {
    /// The sequence of the last event of an app, realm and customer; 0 when there is none.
    package func lastEventSequence(app: AppID, realm: Realm, customer: CustomerID?) throws(StoreFailure) -> Int64 {
        let stream = StreamKey(app: app, realm: realm, customer: customer)
        return try lastEventSequences([stream])[stream] ?? 0
    }
}

/// Events out of a write.
package protocol EventVerbs: EventReader {
    /// Adds events, and a delivery of each for every enabled endpoint of its app whose filter includes it.
    ///
    /// Let it be the last verb of its write. From it to the commit the app's feed is this write's: on a database with
    /// several writers the others that have events of the same app wait, and so the places that it gives are in commit
    /// order.
    ///
    /// - Parameter events: in the order in which they are to stand in the feed.
    /// - Throws: ``StoreFailure/conflict`` when an id is taken, or a sequence is not the one after its customer's last:
    ///   another write was faster. ``StoreFailure/unstorable`` before anything is written.
    func append(_ events: [EventRow]) throws(StoreFailure)
}
