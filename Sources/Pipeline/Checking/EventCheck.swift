import PurchaseModel
import Storage

// What was told: the feed, its streams, and what was to be sent of it.
extension LedgerCheck {
    /// The events that tell of a change of what is to be delivered: each raises the delivery's fence by one.
    private static let ofChanges: Set = Set(
        [EventType.deliveryGranted, .deliveryChanged, .deliveryCompensated, .deliveryRestored].map(\.rawValue)
    )
    /// The same of what was granted by hand: each raises the row's version by one.
    static let ofGrants: Set = Set([EventType.entitlementGranted, .entitlementRevoked].map(\.rawValue))
    /// Several machines' clocks may differ by so much: an endpoint that is no older than that need not have been told.
    private static let clocksMayDiffer = Duration.seconds(300)

    /// Compares with how many changes of deliveries, and of what was granted by hand, there were on each side of the wall.
    mutating func checkStreams(
        _ app: AppID,
        changes: [Realm: Int64],
        granted: [Realm: Int64]
    ) throws(StoreFailure) {
        let reader = reader
        var last: WalkedEvent?
        var told: [Realm: Int64] = [:]
        var toldGrants: [Realm: Int64] = [:]
        let before = findings.counts[.rowUnreadable]
        try walk { place throws(StoreFailure) in
            try reader.walkStreams(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            for event in page {
                let previous = last?.stream == event.stream ? last : nil
                let number = previous?.sequence ?? 0
                if event.sequence != number + 1 {
                    let what = "the sequence after \(number) is \(event.sequence)"
                    check.findings.add(.sequenceGap, .of(event.stream), what)
                }
                if let previous, previous.cursor >= event.cursor {
                    let what = "sequence \(event.sequence) stands in the feed before \(number)"
                    check.findings.add(.eventOutOfOrder, .of(event.stream), what)
                }
                if Self.ofChanges.contains(event.type) { told[event.stream.realm, default: 0] += 1 }
                if Self.ofGrants.contains(event.type) { toldGrants[event.stream.realm, default: 0] += 1 }
                last = event
            }
        }
        // What cannot be read cannot be counted.
        guard findings.counts[.rowUnreadable] == before else { return }
        compare("deliveries", app, changes, told)
        compare("entitlements granted by hand", app, granted, toldGrants)
    }

    private mutating func compare(_ what: String, _ app: AppID, _ made: [Realm: Int64], _ told: [Realm: Int64]) {
        for realm in Set(made.keys).union(told.keys) where made[realm, default: 0] != told[realm, default: 0] {
            let count = "\(made[realm, default: 0]) times, told are \(told[realm, default: 0])"
            findings.add(.changesUntold, .of(app, realm), "\(what) changed \(count)")
        }
    }

    /// An endpoint, and how far its deliveries were looked at.
    private struct Followed {
        let endpoint: WalkedEndpoint
        var deliveries: LedgerWalk<WalkedDelivery>
    }

    mutating func checkFeed(_ app: AppID) throws(StoreFailure) {
        let reader = reader
        var followed: [Followed] = []
        for endpoint in try reader.walkEndpoints(app: app) {
            if endpoint.version != 1 { findings.endpointsChanged += 1 }
            let deliveries = LedgerWalk { place throws(StoreFailure) in
                try reader.walkDeliveries(endpoint: endpoint.id, after: place, limit: Self.pageMax)
            }
            followed.append(Followed(endpoint: endpoint, deliveries: deliveries))
        }
        var last: Int64 = 0
        try walk { place throws(StoreFailure) in
            try reader.walkEvents(app: app, after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.events += page.count
            for event in page {
                if event.cursor.position != last + 1 {
                    let what = "the position after \(last) is \(event.cursor.position)"
                    check.findings.add(.eventGap, .of(app), what)
                }
                last = event.cursor.position
                for index in followed.indices { try check.check(event, &followed[index]) }
            }
        }
        let end = try reader.lastEvent(app: app)
        if end.position != last {
            findings.add(.eventGap, .of(app), "\(end.position) positions were given out, the last event has \(last)")
        }
        for index in followed.indices {
            try addWithoutEvent(&followed[index], app, before: nil)
            findings.add(unreadable: followed[index].deliveries.takeUnreadable())
        }
    }

    private mutating func check(_ event: WalkedEvent, _ followed: inout Followed) throws(StoreFailure) {
        let endpoint = followed.endpoint
        try addWithoutEvent(&followed, event.stream.app, before: event.cursor)
        let names: [LedgerViolation.Name] = .of(
            event.stream.app,
            event.stream.realm,
            ("endpoint_id", endpoint.id.text),
            ("position", String(event.cursor.position))
        )
        guard let delivery = try followed.deliveries.peek(), delivery.cursor == event.cursor else {
            // Only of an endpoint that was never changed it is known what it wanted.
            let since = endpoint.createdAt.advanced(by: Self.clocksMayDiffer)
            if endpoint.version == 1, endpoint.isEnabled, event.learnedAt > since, endpoint.includes(event) {
                findings.add(.deliveryMissing, names, "the endpoint wants the event, and there is no delivery")
            }
            return
        }
        _ = try followed.deliveries.pop()
        findings.deliveries += 1
        if delivery.realm != event.stream.realm {
            findings.add(.wallCrossed, names, "the delivery is for \(delivery.realm.environment.rawValue)")
        } else if delivery.customer != event.stream.customer {
            findings.add(.deliveryContradicts, names, "the delivery is for another customer than the event")
        }
        if delivery.hasEnd != (delivery.state == .delivered || delivery.state == .dead) {
            findings.add(.deliveryContradicts, names, "its state does not go with when it ended")
        }
    }

    private mutating func addWithoutEvent(
        _ followed: inout Followed,
        _ app: AppID,
        before cursor: EventCursor?
    ) throws(StoreFailure) {
        while let delivery = try followed.deliveries.peek(), cursor.map({ delivery.cursor < $0 }) ?? true {
            _ = try followed.deliveries.pop()
            findings.deliveries += 1
            let names: [LedgerViolation.Name] = .of(
                app,
                delivery.realm,
                ("endpoint_id", followed.endpoint.id.text),
                ("position", String(delivery.cursor.position))
            )
            findings.add(.deliveryWithoutEvent, names, "there is no event at this position")
        }
    }
}
