import Encoding
package import HTTP
package import PurchaseModel
import Synchronization

/// `/simulator/v1`: moves the clock, makes customers act, and tells the truth about everything that was sold.
///
/// For tests in any language, and for people who try something out. It has no keys: whoever reaches it owns the store,
/// so it listens where only its owner is.
package final class ControlAPI: Sendable {
    private let simulator: AppStoreSimulator
    /// The app of acts that name none.
    private let app: BundleID
    private let labels = Mutex<[String: TransactionID]>([:])
    /// Called after whatever may have caused notifications: when the answer comes, what is due was sent.
    private let deliver: @Sendable () async -> Void

    package init(
        _ simulator: AppStoreSimulator,
        app: BundleID = DemoCatalogue.bundleID,
        deliver: @escaping @Sendable () async -> Void = {}
    ) {
        self.simulator = simulator
        self.app = app
        self.deliver = deliver
    }

    /// As many in one answer, at most.
    private static let pageMax = 1_000

    package func routes() -> [Route] {
        [
            Route(.get, "/simulator/v1/clock") { _, _ in self.clock() },
            Route(.post, "/simulator/v1/clock") { request, _ in await self.delivered(self.setClock(request.body)) },
            Route(.get, "/simulator/v1/customers") { _, _ in self.customers() },
            Route(.post, "/simulator/v1/customers") { request, _ in self.addCustomer(request.body) },
            Route(.get, "/simulator/v1/customers/{name}") { _, path in self.customer(path["name"] ?? "") },
            Route(.post, "/simulator/v1/acts") { request, _ in await self.delivered(self.act(request.body)) },
            Route(.post, "/simulator/v1/stories") { request, _ in await self.delivered(self.tell(request.body)) },
            Route(.get, "/simulator/v1/ledger") { request, _ in self.ledger(request.query) },
            Route(.get, "/simulator/v1/subscriptions") { _, _ in self.subscriptions() },
            Route(.get, "/simulator/v1/notices") { request, _ in self.notices(request.query) },
            Route(.get, "/simulator/v1/catalogue") { _, _ in self.catalogue() },
            Route(.get, "/simulator/v1/openapi.json") { _, _ in ControlAPI.description },
        ]
    }

    /// The OpenAPI document that lies beside this file: a test holds it to the routes.
    private static let description = HTTPResponse(
        .ok,
        fields: ["Content-Type": "application/json"],
        body: PackageResources.openapi_json
    )

    private func delivered(_ response: HTTPResponse) async -> HTTPResponse {
        await deliver()
        return response
    }

    // MARK: Time

    private func clock() -> HTTPResponse {
        let (now, next) = simulator.read { ($0.steadyNow, $0.nextMoment) }
        let pace = simulator.pace
        return ControlAnswer.json { json in
            json.member("now", LedgerJSON.text(now))
            json.member("next_event_at", LedgerJSON.text(next))
            switch pace {
            case .stands: json.member("pace", 0)
            case .runs(let factor): json.member("pace", Int64(factor))
            }
        }
    }

    /// `{"advance": "P31D"}`, `{"to": "2027-01-01T00:00:00Z"}`, `{"pace": 60}`: one of them or several.
    private func setClock(_ body: [UInt8]) async -> HTTPResponse {
        do throws(StoryFault) {
            var members = try ControlAnswer.members(body)
            let pace = try members.number("pace", 0...10_000_000)
            let span = try members.made("advance", "a distance like P31D") { StorySpan($0) }
            let target = try members.moment("to")
            try members.finish()
            let moment = try simulator.change { store throws(StoryFault) in
                guard let advanced = span.map({ $0.after(store.steadyNow) }) ?? store.steadyNow else {
                    throw StoryFault("advance", StoryFault.tooLate)
                }
                if let target, target < advanced {
                    throw StoryFault("to", "time does not go back", refusal: "time_has_passed")
                }
                return target ?? advanced
            }
            guard moment <= simulator.end else { return ControlAnswer.beyondCertificates(simulator.end) }
            if let pace { simulator.setPace(pace == 0 ? .stands : .runs(factor: Double(pace))) }
            await advance(to: moment)
        } catch {
            return ControlAnswer.fault(error)
        }
        return clock()
    }

    /// A month after another, so that others get their answers in between, and a stop need not wait for a thousand years.
    private func advance(to moment: Timestamp) async {
        var hasArrived = false
        while !hasArrived, !Task.isCancelled {
            hasArrived = simulator.change { store in
                store.advance(to: min(moment, store.now.advanced(by: .seconds(30 * 86_400))))
                return store.now >= moment
            }
            await Task.yield()
        }
    }

    // MARK: Customers

    private func customers() -> HTTPResponse {
        let all = simulator.read { $0.customers.values.sorted { $0.name < $1.name } }
        return ControlAnswer.json { json in
            json.array("customers") { json in
                for customer in all { json.object { LedgerJSON.write(customer, into: &$0) } }
            }
        }
    }

    private func addCustomer(_ body: [UInt8]) -> HTTPResponse {
        do throws(StoryFault) {
            let document: JSONDocument
            do throws(JSONFault) { document = try JSONDocument(body) } catch { throw StoryFault("", "\(error)") }
            var customer = try Story.customer(document.root)
            let family = customer.family
            customer.family = nil
            let added = customer
            let isNew = simulator.change { store in
                guard store.customers[added.name] == nil else { return false }
                store.set(added)
                if let family { _ = try? store.perform(.setFamily(customer: added.name, family: family)) }
                return true
            }
            guard isNew else {
                return ControlAnswer.problem(.conflict, code: "exists", detail: "There is a customer of that name.")
            }
            customer.family = family
            return ControlAnswer.json(.created) { LedgerJSON.write(customer, into: &$0) }
        } catch {
            return ControlAnswer.fault(error)
        }
    }

    private func customer(_ name: String) -> HTTPResponse {
        // Written while the store is read: a copy of the store that outlives this makes the next act copy all of it.
        simulator.read { store in
            guard let customer = store.customers[name] else { return ControlAnswer.notFound("customer") }
            let owners = store.apps.keys.sorted().map { SimulatedStore.Owner(customer: name, app: $0) }
            return ControlAnswer.json { json in
                LedgerJSON.write(customer, into: &json)
                json.array("transactions") { json in
                    for sold in owners.flatMap({ store.transactions(of: $0) }) {
                        json.object { LedgerJSON.write(sold, into: &$0) }
                    }
                }
                json.array("subscriptions") { json in
                    for line in owners.flatMap({ store.lines(of: $0) }) {
                        json.object { LedgerJSON.write(line, in: store, into: &$0) }
                    }
                }
            }
        }
    }

    // MARK: Acts and stories

    private func act(_ body: [UInt8]) -> HTTPResponse {
        let known = labels.withLock { $0 }
        do throws(StoryFault) {
            let document = try ControlAnswer.members(body)
            let app = app
            // Understood and done at one moment: "the newest of" is the newest when it is done.
            let (label, result) = try simulator.change { store throws(StoryFault) in
                var members = document
                let (act, label) = try ActReader(store: store, labels: known, defaultApp: app).act(&members)
                return (label, Result { () throws(ActRefusal) in try store.perform(act) })
            }
            switch result {
            case .success(let outcome):
                if let label, case .done(let ids) = outcome, let newest = ids.last {
                    labels.withLock { $0[label] = newest }
                }
                return answer(outcome)
            case .failure(let refusal): return ControlAnswer.refused(refusal)
            }
        } catch {
            return ControlAnswer.fault(error)
        }
    }

    private func answer(_ outcome: ActOutcome) -> HTTPResponse {
        switch outcome {
        case .done(let ids):
            let sold = simulator.read { store in ids.compactMap { store.transactions[$0] } }
            return ControlAnswer.json { json in
                json.member("outcome", "done")
                json.array("transactions") { json in
                    for transaction in sold { json.object { LedgerJSON.write(transaction, into: &$0) } }
                }
            }
        case .waits:
            return ControlAnswer.json(.accepted) { $0.member("outcome", "waits") }
        case .test(let token):
            return ControlAnswer.json { json in
                json.member("outcome", "done")
                json.member("test_notification_token", token)
            }
        }
    }

    /// Tells a story from now on, in this store. Its own start, its seed and where it has notifications go count for nothing
    /// here; its grace period is the app's until it ends.
    private func tell(_ body: [UInt8]) -> HTTPResponse {
        do throws(StoryFault) {
            let story = try Story(body)
            let app = app
            let end = simulator.end
            let outcome = try simulator.change { store throws(StoryFault) -> (differences: [String], told: Int)? in
                let before = store.notices.count
                var teller = StoryTeller(in: store, app: app)
                let differences = try teller.tell(story)
                guard teller.store.steadyNow <= end else { return nil }
                store = teller.store
                return (differences, store.notices.count - before)
            }
            guard let (differences, told) = outcome else { return ControlAnswer.beyondCertificates(end) }
            return ControlAnswer.json { json in
                json.member("name", story.name)
                json.member("notices", told)
                json.array("differences") { json in for difference in differences { json.element(difference) } }
            }
        } catch {
            return ControlAnswer.fault(error)
        }
    }

    // MARK: The truth

    private func ledger(_ query: String?) -> HTTPResponse {
        guard let start = ControlAPI.place(in: query) else { return ControlAPI.badPlace }
        let (page, count) = simulator.read { store in
            let ids = store.sales.dropFirst(start).prefix(ControlAPI.pageMax)
            return (ids.compactMap { store.transactions[$0] }, store.sales.count)
        }
        return ControlAnswer.json { json in
            json.array("transactions") { json in
                for sold in page { json.object { LedgerJSON.write(sold, into: &$0) } }
            }
            json.member("next", start + page.count < count ? start + page.count : nil)
        }
    }

    private func subscriptions() -> HTTPResponse {
        simulator.read { store in
            ControlAnswer.json { json in
                json.array("subscriptions") { json in
                    for id in store.lines.keys.sorted() {
                        guard let line = store.lines[id] else { continue }
                        json.object { LedgerJSON.write(line, in: store, into: &$0) }
                    }
                }
            }
        }
    }

    private func notices(_ query: String?) -> HTTPResponse {
        guard let start = ControlAPI.place(in: query) else { return ControlAPI.badPlace }
        let (page, count) = simulator.read { store in
            (Array(store.notices.dropFirst(start).prefix(ControlAPI.pageMax)), store.notices.count)
        }
        return ControlAnswer.json { json in
            json.array("notices") { json in
                for notice in page { json.object { LedgerJSON.write(notice, into: &$0) } }
            }
            json.member("next", start + page.count < count ? start + page.count : nil)
        }
    }

    private func catalogue() -> HTTPResponse {
        let apps = simulator.read { $0.apps.values.sorted { $0.bundleID < $1.bundleID } }
        return ControlAnswer.json { json in
            json.array("apps") { json in
                for app in apps { json.object { CatalogueJSON.write(app, into: &$0) } }
            }
        }
    }

    /// `after=` the `next` of the page before; nil for anything else.
    private static func place(in query: String?) -> Int? {
        guard let query, !query.isEmpty else { return 0 }
        let parts = query.utf8.split(separator: UInt8(ascii: "="))
        guard parts.count == 2, parts[0].elementsEqual("after".utf8), parts[1].count <= 12,
            parts[1].allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(String(decoding: parts[1], as: UTF8.self))
    }

    private static let badPlace = ControlAnswer.problem(
        .badRequest,
        code: "invalid_request",
        detail: "after is the next of another page.",
        path: "after"
    )
}
