import Encoding
import Pipeline
import PurchaseModel
import Storage

extension Audit {
    /// Every stream counts without a gap, and no purchase is granted twice in it.
    func checkStreams() {
        var last: [StreamKey: Int64] = [:]
        var granted: Set<String> = []
        for event in store.events {
            let stream = StreamKey(app: event.app, realm: event.realm, customer: event.customer)
            let isNext = event.sequence == last[stream, default: 0] + 1
            expect(isNext, "I12 sequence", "\(event.sequence) follows \(last[stream, default: 0])")
            last[stream] = event.sequence
            guard event.type == EventType.deliveryGranted.rawValue,
                let delivery = ShopMessage(WebhookBody.bytes(of: event))?.delivery
            else { continue }
            expect(granted.insert(delivery.id).inserted, "I4 credited once", "\(delivery.id) is granted twice")
        }
    }

    /// Each event that an endpoint wants has been delivered to it, once, in the words of the feed.
    func checkDeliveries() {
        for endpoint in world.shop.endpoints {
            let wanted = store.events.filter(endpoint.filter.includes)
            let deliveries = store.deliveries[endpoint.id] ?? []
            expect(
                Set(deliveries.map(\.id.event)) == Set(wanted.map(\.id)) && deliveries.count == wanted.count,
                "I6 delivery",
                "\(deliveries.count) deliveries of \(wanted.count) events"
            )
            for delivery in deliveries where delivery.state != .delivered {
                expect(false, "I6 delivery", "\(delivery.id.event.text) is \(delivery.state)")
            }
            let received = world.shop.received(at: endpoint.id)
            expect(received.count == wanted.count, "I7 effect", "\(received.count) messages of \(wanted.count)")
            for event in wanted {
                let isSame = received[event.id.text] == WebhookBody.bytes(of: event)
                expect(isSame, "I7 effect", "\(event.id.text) is not as it was told")
            }
        }
    }

    /// Where nothing but a 2xx acknowledges: what is delivered is acknowledged in the commit that says so, and nothing is of
    /// which the shop has not heard.
    func checkAcknowledgements() {
        guard let endpoint = world.shop.acknowledging else { return }
        let delivered = Set((store.deliveries[endpoint.id] ?? []).filter { $0.state == .delivered }.map(\.id.event))
        let received = world.shop.received(at: endpoint.id)
        var (answered, heard): ([String: Int64], Set<String>) = ([:], [])
        for event in store.events {
            guard let goods = ShopMessage(WebhookBody.bytes(of: event))?.toDeliver else { continue }
            if delivered.contains(event.id) { answered[goods.id] = max(goods.fence, answered[goods.id] ?? 0) }
            if received[event.id.text] != nil { heard.insert(goods.id) }
        }
        for row in store.fulfilments.values {
            let (id, isDone) = (DeliveryID(row.transaction).description, row.delivery?.isDone ?? false)
            let isNoted = isDone || answered[id] != row.fence
            expect(isNoted, "I6 acknowledged by 2xx", "\(id) was answered, and is not acknowledged")
            let isHeard = row.delivery != .acknowledged || heard.contains(id)
            expect(isHeard, "I6 acknowledged by 2xx", "of \(id) nobody has heard")
        }
    }

    /// What the shop heard last of what was granted by hand is what is there.
    func checkGranted() {
        var told: [String: ShopMessage.Given] = [:]
        for event in store.events {
            guard let message = world.shop.received(of: event), let given = message.given else { continue }
            let name = "\(message.stream) \(given.entitlement)"
            expect(given.version == (told[name]?.version ?? 0) + 1, "I12 sequence", "\(name) skips a change")
            told[name] = given
        }
        expect(store.granted.count == told.count, "I7 the shop's story", "of \(told.count) grants by hand it has heard")
        for row in store.granted {
            let realm = row.key.realm
            let stream = "\(realm.environment)\(realm.isTestSigned ? ".test" : "") \(row.key.customer.text)"
            let given = told["\(stream) \(row.key.entitlement.text)"]
            let until = row.until.flatMap { RFC3339.text(milliseconds: $0.milliseconds) }
            let isSame = given?.version == row.version && given?.until == until && given?.isRevoked == row.isRevoked
            expect(isSame, "I7 the shop's story", "\(stream) has \(row.key.entitlement) otherwise than the shop knows")
        }
    }

    /// What the shop has made of all that it heard is what the ledger holds.
    func checkStory() {
        var goods: [String: ShopMessage.Delivery] = [:]
        var owners: [String: String] = [:]
        for event in store.events {
            guard let message = world.shop.received(of: event) else { continue }
            if let delivery = message.delivery, delivery.fence > goods[delivery.id]?.fence ?? 0 {
                goods[delivery.id] = delivery
            }
            if let transfer = message.transfer, message.type == EventType.customerTransferred.rawValue {
                owners[transfer.chain] = transfer.to
            }
        }
        for row in store.fulfilments.values {
            let id = DeliveryID(row.transaction).description
            let told = goods[id]
            expect(
                told?.fence ?? 0 == row.fence && (told == nil || told?.state == row.state.rawValue),
                "I7 the shop's story",
                "of \(id) the shop knows \(told?.fence ?? 0) and \(told?.state ?? "nothing"), not \(row.fence)"
            )
            let amounts = row.goods.reduce(into: [String: Int64]()) { amounts, goods in
                guard case .amount(let amount) = goods else { return }
                amounts[amount.currency.text, default: 0] += amount.amount - amount.reversed
            }
            expect(told?.amounts ?? [:] == amounts, "I7 the shop's story", "of \(id) the shop knows other amounts")
            expect(row.delivery?.isDone ?? true, "I6 delivery", "\(id) is never acknowledged")
        }
        for owner in store.owners.values {
            guard let told = owners[owner.chain.original.description] else { continue }
            expect(told == owner.customer.text, "I10 account binding", "the shop knows another owner of \(owner.chain)")
        }
    }
}

extension DeliveryProgress {
    fileprivate var isDone: Bool { self == .acknowledged || self == .compensated }
}
