import PurchaseModel
import Testing

/// What is asked of the ledger before a batch is decided: for each whatever may become hers by any of its proofs, and no more.
@Suite struct InquiryTests {
    @Test func whatDoesNotMeetIsAskedForItself() throws {
        let batch = try (Int64(1)...256).map { number in try Self.recording([Sold.coins(number)], by: "c\(number)") }
        let inquiry = Inquiry(batch, after: Situation())
        let wishes = try (1...256).map { try Self.wish("c\($0)", "coins") }
        #expect(inquiry.wishes == Set(wishes))
        #expect(inquiry.customers.count == 256 && inquiry.wallets.count == 256)
    }

    @Test func whatAnotherProofOfTheChainTellsIsAskedForWhoeverClaimsIt() throws {
        let batch = try [
            Self.recording([Sold.month(1)], by: "ann"), Self.recording([Self.yearAfterTheFirst()]),
            Self.recording([Sold.month(3)], by: "bob"),
        ]
        let wishes = try [
            Self.wish("ann", "monthly"), Self.wish("ann", "yearly"), Self.wish("bob", "monthly"),
        ]
        for batch in [batch, batch.reversed()] {
            #expect(Inquiry(batch, after: Situation()).wishes == Set(wishes))
        }
    }

    @Test func ofOneChainNoMoreIsAskedThanItHasProductsAndCustomers() throws {
        let periods = try (Int64(1)...5_000).map { try Sold.month($0, original: 1, from: $0) }
        let whole = Inquiry([try Self.recording(periods, by: "ann")], after: Situation())
        #expect(whole.wishes.count == 1 && whole.wallets.count == 1)
        let batch = try (1...256).map { try Self.recording([periods[$0]], by: "c\($0)") }
        let many = Inquiry(batch, after: Situation())
        #expect(many.wishes.count == 256 && many.customers.count == 256)
        let products = ["monthly", "yearly", "weekly"]
        let mixed = try (1...256).map { number in
            var sold = periods[number]
            sold.product = try Shop.product(products[number % 3])
            return try Self.recording([sold], by: "c\(number % 12)")
        }
        // Whatever any proof tells of the chain matters to each who may come to have it.
        #expect(Inquiry(mixed, after: Situation()).wishes.count == 12 * 3)
    }

    /// Each row of an import may bring the same receipt, of which one purchase is its customer's.
    @Test func ofWhatSeveralBringEachIsAskedForWhoClaimsIt() throws {
        let products = ["coins", "lamp", "monthly", "season"]
        let all = try (Int64(1)...4).map { try Sold.transaction($0, products[Int($0 - 1)], .nonConsumable) }
        let batch = try (Int64(1)...4).map { number in
            var recording = try Self.recording(all, by: "c\(number)")
            recording.claimed = TransactionID(number: number)
            return recording
        }
        let wishes = try (1...4).map { try Self.wish("c\($0)", products[$0 - 1]) }
        #expect(Inquiry(batch, after: Situation()).wishes == Set(wishes))
    }

    /// Of the first transaction's chain.
    private static func yearAfterTheFirst() throws -> Transaction {
        var sold = try Sold.month(2, original: 1)
        sold.product = try Shop.product("yearly")
        return sold
    }

    private static func recording(_ sold: [Transaction], by customer: String? = nil) throws -> Recording {
        Recording(
            app: try Shop.app(),
            realm: Shop.production,
            transactions: sold,
            customer: try customer.map { try #require(CustomerID($0)) },
            terms: try Shop().terms
        )
    }

    private static func wish(_ customer: String, _ product: String) throws -> WishKey {
        WishKey(app: try Shop.app(), customer: try #require(CustomerID(customer)), product: try Shop.product(product))
    }
}
