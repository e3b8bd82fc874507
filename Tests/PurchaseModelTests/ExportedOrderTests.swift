import PurchaseModel
import Testing

/// The rows of an export and what Apple tells meanwhile, in every order in which they may come: it ends alike.
@Suite struct ExportedOrderTests {
    private enum Arrival: CaseIterable { case firstRow, secondRow, told, refunded, reversed }

    /// Two periods of subscription 1, of which the second has a row that says something, beside a proof that Apple signed
    /// after its purchase or, of a part, after its refund.
    private struct Move {
        var shop: Shop
        let outcome: ExportedOutcome
        let first: Transaction
        let second: Transaction
        let isRefundedThere: Bool
        let percentage: Int?

        init(_ outcome: ExportedOutcome, day: Double = 31, isRefundedThere: Bool = false, percentage: Int? = nil) throws
        {
            shop = try Shop()
            shop.now = SubscriptionCase.at(day)
            self.outcome = outcome
            (self.isRefundedThere, self.percentage) = (isRefundedThere, percentage)
            first = try Sold.month(1)
            var second = try Sold.month(2, original: 1, from: 30)
            second.signedAt = second.purchasedAt
            self.second = second
        }

        mutating func take(_ arrival: Arrival) throws {
            switch arrival {
            case .firstRow: try row([first], 1, .delivered(fence: 1))
            case .secondRow:
                let taken = Sold.refunded(second, after: 30, percentage: percentage)
                try row([isRefundedThere ? taken : second], 2, outcome)
            case .told: try shop.show(second, by: nil)
            case .refunded: try shop.show(Sold.refunded(second), by: nil)
            case .reversed: try shop.show(Sold.again(second, after: 30 * 86_400 + 120), by: nil)
            }
        }

        private mutating func row(_ proof: [Transaction], _ number: Int64, _ outcome: ExportedOutcome) throws {
            let id = try #require(TransactionID(number: number))
            try shop.show(
                proof,
                by: "ann",
                from: .imported,
                booksClosedAt: shop.now,
                claiming: number,
                exported: ExportedRow(id, outcome, booksUntil: second.purchasedAt.advanced(by: .seconds(1)))
            )
        }

        /// What was told of the second period's delivery.
        var told: [String] {
            shop.events.compactMap { event in
                guard case .fulfilment(let row, _) = event.subject, row.transaction.id.number == 2,
                    event.type.rawValue.hasPrefix("delivery.")
                else { return nil }
                return "\(event.type.rawValue) \(row.fence)"
            }
        }
    }

    /// Nobody had it there: whoever keeps fences has it in the end, of whatever Apple has told first.
    @Test func whatWaitedIsDeliveredInTheEnd() throws {
        for order in permutations(of: Arrival.allCases) {
            var move = try Move(.notGiven(.waiting, .outOfRange))
            for arrival in order {
                try move.take(arrival)
                try Invariants.check(move.shop, "\(order)")
            }
            let row = try move.shop.fulfilment(2)
            #expect(try move.shop.word(2) == "granted" && move.shop.rights() == ["premium"], "\(order)")
            let last = try #require(move.told.last, "\(order)")
            #expect(last.hasSuffix(" \(row.fence)"), "\(order)")
            #expect(["delivery.granted", "delivery.restored"].contains { last.hasPrefix($0) }, "\(order)")
            // Once its refund was told, it goes on as what another system has delivered.
            let heard = order.filter { $0 != .reversed && $0 != .secondRow }
            if heard != [.firstRow, .told, .refunded] { #expect(!row.isImported, "\(order)") }
            #expect(try move.shop.gems() == (row.isImported ? 0 : 10), "\(order)")
            let told = move.told
            for arrival in order { try move.take(arrival) }
            #expect(move.told == told, "\(order), again")
        }
    }

    /// As what was over when it was heard of.
    @Test func whatWasWithheldStaysSo() throws {
        for order in permutations(of: [Arrival.firstRow, .secondRow, .told]) {
            var move = try Move(.notGiven(.withheld, .expired), day: 70)
            for arrival in order { try move.take(arrival) }
            #expect(try move.shop.word(2) == "withheld expired" && move.told == [], "\(order)")
            #expect(try !move.shop.fulfilment(2).isImported && move.shop.fulfilment(2).fence == 0, "\(order)")
            try Invariants.check(move.shop, "\(order)")
        }
    }

    /// Another system had delivered it before, by its own books.
    @Test func whatStandsInOtherBooksStays() throws {
        var move = try Move(.notGiven(.waiting, .outOfRange))
        try move.shop.show(move.first, from: .imported, booksClosedAt: SubscriptionCase.at(30.5))
        for arrival in [Arrival.firstRow, .told, .secondRow] { try move.take(arrival) }
        #expect(try move.shop.fulfilment(2).isImported && move.told == [] && move.shop.gems() == 0)
    }

    /// Its shop knows of the refund, or of a part of it, and not of what Apple has said since: it hears of that once.
    @Test func whatHasChangedSinceIsTold() throws {
        for (news, percentage, wanted) in [
            (Arrival.reversed, nil, "delivery.restored 3"), (.refunded, 40_000, "delivery.compensated 3"),
        ] as [(Arrival, Int?, String)] {
            for order in permutations(of: [Arrival.firstRow, .secondRow, news]) {
                let outcome = ExportedOutcome.delivered(fence: 2, isTakenBack: true)
                var move = try Move(outcome, isRefundedThere: true, percentage: percentage)
                for arrival in order { try move.take(arrival) }
                for arrival in order { try move.take(arrival) }
                #expect(move.told == [wanted], "\(order)")
                let row = try move.shop.fulfilment(2)
                #expect(row.fence == 3 && row.importedFence == 2 && row.isImported, "\(order)")
                #expect(row.state == (news == .reversed ? .granted : .reversed), "\(order)")
                try Invariants.check(move.shop, "\(order)")
            }
        }
    }
}
