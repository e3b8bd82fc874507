import PurchaseModel
import Testing

/// The rows of an export and what Apple tells meanwhile, in every order in which they may come: it ends alike.
@Suite struct ExportedOrderTests {
    private enum Arrival { case firstRow, secondRow, told, refunded, partlyRefunded, reversed, extended, upgraded }

    /// Two periods of subscription 1, of which the second has a row that says something, beside a proof that Apple signed
    /// after its purchase or, of a part, after its refund.
    private struct Move {
        var shop: Shop
        let outcome: ExportedOutcome
        let first: Transaction
        let second: Transaction
        let isRefundedThere: Bool
        let percentage: Int?
        /// Whether that proof is a receipt.
        let isReceipt: Bool

        init(
            _ outcome: ExportedOutcome,
            day: Double = 31,
            isRefundedThere: Bool = false,
            percentage: Int? = nil,
            isReceipt: Bool = false
        ) throws {
            shop = try Shop()
            shop.now = SubscriptionCase.at(day)
            self.outcome = outcome
            (self.isRefundedThere, self.percentage, self.isReceipt) = (isRefundedThere, percentage, isReceipt)
            first = try Sold.month(1)
            var second = try Sold.month(2, original: 1, from: 30)
            second.signedAt = second.purchasedAt
            self.second = second
        }

        mutating func take(_ arrival: Arrival) throws {
            switch arrival {
            case .firstRow: try row([first], 1, .delivered(fence: 1))
            case .secondRow:
                var proof = isRefundedThere ? Sold.refunded(second, after: 30, percentage: percentage) : second
                if isReceipt { proof.ownership = nil }
                try row([proof], 2, outcome)
            case .told: try shop.show(second, by: nil)
            case .refunded: try shop.show(Sold.refunded(second), by: nil)
            case .partlyRefunded: try shop.show(Sold.refunded(second, after: 90, percentage: 40_000), by: nil)
            case .reversed: try shop.show(later, by: nil)
            case .extended: try shop.show(extended, by: nil)
            case .upgraded:
                var upgraded = later
                upgraded.isUpgraded = true
                try shop.show(upgraded, by: nil)
            }
        }

        /// The second period as Apple signs it last.
        private var later: Transaction { Sold.again(second, after: 30 * 86_400 + 120) }

        /// The same with 30 days more.
        var extended: Transaction {
            var extended = later
            extended.expiresAt = SubscriptionCase.at(90)
            return extended
        }

        mutating func row(_ proof: [Transaction], _ number: Int64, _ outcome: ExportedOutcome) throws {
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
        for order in permutations(of: [Arrival.firstRow, .secondRow, .told, .refunded, .reversed]) {
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

    /// What the row of the second period says, with which proof, and what Apple has said since: what is told of it.
    private struct Change {
        let news: Arrival
        var isTakenBack = false
        var percentage: Int?
        var isReceipt = false
        let type: String

        func move(fence: Int64) throws -> Move {
            try Move(
                .delivered(fence: fence, isTakenBack: isTakenBack),
                isRefundedThere: isTakenBack,
                percentage: percentage,
                isReceipt: isReceipt
            )
        }

        var state: FulfilmentState {
            switch news {
            case .refunded: .reversed
            case .partlyRefunded: .partlyReversed
            default: .granted
            }
        }
    }

    private static let changes = [
        Change(news: .reversed, isTakenBack: true, type: "delivery.restored"),
        Change(news: .reversed, isTakenBack: true, isReceipt: true, type: "delivery.restored"),
        Change(news: .refunded, isTakenBack: true, percentage: 40_000, type: "delivery.compensated"),
        Change(news: .partlyRefunded, isTakenBack: true, type: "delivery.restored"),
        Change(news: .refunded, type: "delivery.compensated"),
        Change(news: .refunded, isReceipt: true, type: "delivery.compensated"),
        Change(news: .extended, type: "delivery.changed"), Change(news: .upgraded, type: "delivery.changed"),
    ]

    /// Its shop knows what its row's proof says, and not what Apple has said since: it hears of that once.
    @Test(arguments: [1, 2] as [Int64]) func whatHasChangedSinceIsTold(fence: Int64) throws {
        for change in Self.changes {
            for order in permutations(of: [Arrival.firstRow, .secondRow, change.news]) {
                // Of which a part is left when it is heard of, that is given by this ledger.
                if change.news == .partlyRefunded, order == [.firstRow, .partlyRefunded, .secondRow] { continue }
                var move = try change.move(fence: fence)
                for arrival in order { try move.take(arrival) }
                for arrival in order { try move.take(arrival) }
                #expect(move.told == ["\(change.type) \(fence + 1)"], "\(change), \(order)")
                let row = try move.shop.fulfilment(2)
                #expect(row.fence == fence + 1 && row.importedFence == fence && row.isImported, "\(change), \(order)")
                #expect(row.state == change.state, "\(change), \(order)")
                try Invariants.check(move.shop, "\(change), \(order)")
            }
        }
    }

    /// It was told here with a fence that the shop has from the other ledger: once more, with a greater one.
    @Test func whatWasToldWithTooSmallAFenceIsToldAgain() throws {
        for change in Self.changes where !change.isTakenBack {
            for fence in [Int64(1), 2] {
                var move = try change.move(fence: fence)
                let order = [Arrival.firstRow, .told, change.news, .secondRow]
                for arrival in order { try move.take(arrival) }
                for arrival in order { try move.take(arrival) }
                #expect(move.told == (1...fence).map { "\(change.type) \($0 + 1)" }, "\(change), \(fence)")
                #expect(try move.shop.fulfilment(2).state == change.state, "\(change), \(fence)")
                try Invariants.check(move.shop, "\(change), \(fence)")
            }
        }
    }

    /// A receipt is the newest proof there; what told more before it comes with another row.
    @Test func whatAnOlderProofSaysIsNoNews() throws {
        var move = try Move(.delivered(fence: 1))
        try move.take(.firstRow)
        try move.take(.extended)
        var receipt = move.extended
        receipt.ownership = nil
        try move.row([receipt], 2, .delivered(fence: 1))
        try move.take(.secondRow)
        #expect(try move.told == [] && move.shop.fulfilment(2).importedFence == 1)
        try Invariants.check(move.shop, "an older proof")
    }
}
