import AppStore
import PurchaseModel
import Simulator
import Testing
import Verification

/// Whatever goes wrong between us: an answer is right, or it is none.
@Suite struct ChaosTests {
    private static func chaos(_ seed: UInt64) -> Chaos {
        var chaos = Chaos.none
        chaos.seed = seed
        chaos.reset = 60
        chaos.serverError = 80
        chaos.tooManyRequests = 40
        chaos.html = 60
        chaos.truncated = 80
        chaos.unauthorized = 40
        chaos.temporaryStatus = 80
        return chaos
    }

    @Test(arguments: UInt64(0)..<6)
    func theServerAPIIsRightOrSilent(seed: UInt64) async throws {
        let shop = try ServerDesk(chaos: Self.chaos(seed))
        var bought: [TransactionID] = []
        for _ in 0..<20 { bought.append(try shop.desk.buy("coins.100").id) }
        let yearly = try shop.desk.buy("pro.yearly").id
        bought.append(yearly)
        var (right, silent) = (0, 0)
        for round in 0..<20 {
            shop.desk.clock.advance(by: .seconds(600))
            do throws(AppStoreFailure) {
                if round % 2 == 0 {
                    let found = try await shop.client.statuses(ofAny: yearly)
                    #expect(found.store == .production)
                    #expect(found.value.map(\.transaction.fact.transactions.first?.id) == [yearly])
                } else {
                    var ids: [TransactionID] = []
                    for try await page in shop.client.history(ofAny: yearly) {
                        ids += page.transactions.flatMap(\.fact.transactions).map(\.id)
                    }
                    #expect(ids == bought)
                }
                right += 1
            } catch {
                silent += 1
                // Nothing that went wrong on the way may look like a word about the purchase.
                #expect(error.remedy != .giveUp && error.remedy != .change, "\(error)")
            }
        }
        #expect(right > 0 && silent > 0)
    }

    @Test(arguments: UInt64(0)..<6)
    func verifyReceiptIsRightOrSilent(seed: UInt64) async throws {
        let desk = AppleDesk()
        let sold = try desk.buy("pro.yearly")
        let receipt = try desk.receipt()
        let call = try desk.receiptCall(chaos: Self.chaos(seed))
        var options = VerifyReceiptCall.Options()
        options.isVerifiedLocally = true
        var (right, silent) = (0, 0)
        for _ in 0..<20 {
            desk.clock.advance(by: .seconds(600))
            switch await call.verify(receipt, of: desk.credentials, options: options) {
            case .renewable(let receipt):
                #expect(receipt.transactions.map(\.id) == [sold.id])
                right += 1
            case .unavailable, .disagreement(status: 21_002): silent += 1
            case let other: Issue.record("\(other)")
            }
        }
        #expect(right > 0 && silent > 0)
    }
}
