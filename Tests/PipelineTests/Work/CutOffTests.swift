import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// A server is stopped in the middle of its questions: that says nothing of Apple, and others ask at once.
@Suite(.timeLimit(.minutes(15))) struct CutOffTests {
    @Test func whateverWasBeingAskedIsDueForOthersAtOnce() async throws {
        var terms = AppTerms(sandbox: .everybody(until: Timestamp(milliseconds: .max)))
        terms.consumption = ConsumptionTerms(answers: true, consent: .byTerms)
        // Of what is in the books Apple is told; of what nobody knows it is not.
        let (sold, plan) = (DemoCatalogue.product("coins.100"), DemoCatalogue.product("pro.monthly"))
        terms.products = [
            sold: ProductTerms(
                product: sold,
                kind: .consumable,
                goods: [.amount(100, try #require(CurrencyID("coins")))]
            ),
            plan: ProductTerms(product: plan, kind: .autoRenewable, goods: []),
        ]
        try await WorkHouse(terms: terms).open { house in
            let coins = try house.buy("coins.100")
            let pro = try house.buy("pro.monthly")
            await house.sender.deliverDue()
            _ = try await house.submit(try house.receipt())
            _ = try house.simulator.perform(.askRefund(Act.RefundRequest(transaction: coins.id)))
            await house.sender.deliverDue()
            // By now Apple is told of the consumption.
            house.pass(.seconds(3_600))
            _ = try await house.submit(Array("\(try house.buy("sword").id)".utf8))
            _ = try await house.submit(ProofDecisionTests.answer(around: try house.receipt()), customer: "bob")
            try await Self.plan(house, pro.id, order: coins.orderID)
            let planned: [String: Int] = [
                ConsumptionAnswering.kind: 1, ProofDecision.kind: 2, SubscriptionLook.kind: 1, CustomerReading.kind: 2,
                NotificationReading.kind: 1, NotificationComparison.kind: 1, SupportAsking.kind: 1,
            ]
            house.script.fallSilent()
            await house.stopWhile(asking: planned.values.reduce(0, +))
            let due = try await house.due()
            #expect(Dictionary(due.map { ($0.job.kind, 1) }, uniquingKeysWith: +) == planned)
            // It does not count as a try, either.
            #expect(due.allSatisfy { $0.attempt == 1 }, "\(due.map(\.attempt))")
            #expect(try await house.deadLetters() == [])
        }
    }

    /// The jobs that nothing else here leads to.
    private static func plan(_ house: WorkHouse, _ id: TransactionID, order: String) async throws {
        let (app, now) = (house.app.id, house.clock.now)
        let realm = Realm(environment: .production, isTestSigned: true)
        let key = TransactionKey(app: app, realm: realm, id: id)
        let hour = now.advanced(by: .seconds(-3_600))
        try await house.queue.enqueue(SubscriptionLook(ChainKey(app: app, realm: realm, original: id)))
        for subject in CustomerReading.Subject.allCases {
            try await house.queue.enqueue(CustomerReading(subject, of: key))
        }
        try await house.queue.enqueue(NotificationReading(app: app, store: .production, from: hour, until: now))
        try await house.queue.enqueue(NotificationComparison(app: app, store: .production))
        let support = SupportQueue(house.queue)
        _ = try await house.store.write { transaction throws(StoreFailure) in
            try support.take(.lookUpOrder(order), for: app, by: "desk", at: now, in: transaction)
        }
    }
}
