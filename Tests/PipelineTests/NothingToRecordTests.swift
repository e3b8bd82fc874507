import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// Of every format: what is recorded at once, what waits for Apple, and what holds nothing that could be recorded by
/// anybody, which must not wait for a month.
@Suite struct NothingToRecordTests {
    struct Row: Sendable, CustomStringConvertible {
        let description: String
        let proof: @Sendable () throws -> [UInt8]
        let word: String
    }

    private static let signer = TestAuthority.signer()

    private static func row(_ name: String, _ word: String, _ proof: @escaping @Sendable () throws -> [UInt8]) -> Row {
        Row(description: name, proof: proof, word: word)
    }

    private static func text(_ name: String, _ word: String, _ text: String) -> Row {
        row(name, word) { Array(text.utf8) }
    }

    /// Without the store, as texts of 2021 are.
    private static func unplaced(_ payload: Payload, _ member: String = "environment") throws -> [UInt8] {
        var payload = payload
        payload[member] = nil
        return Array(try signer.sign(payload).utf8)
    }

    private static func notice(_ transaction: Transaction?, namesStore: Bool) throws -> [UInt8] {
        let signed = try transaction.map { try signer.transaction($0) }
        let notice = Notice(uuid: "1", type: "TEST", signedAt: PipelineHouse.now)
        var payload = Payload.notification(notice, of: signer.app, transaction: signed, renewal: nil)
        if !namesStore, case .object(var data)? = payload["data"] {
            data["environment"] = nil
            payload["data"] = .object(data)
        }
        return Array(try signer.sign(payload).utf8)
    }

    private static func oldReceipt(_ number: Int64) throws -> [UInt8] {
        var sold = try Proofs.transaction(1)
        sold.id = try #require(TransactionID(number: number))
        sold.originalID = sold.id
        return try StoreAuthority.one.get().receipt(sold)
    }

    private static var renewal: Renewal {
        get throws {
            let sold = try Proofs.transaction(7)
            return Renewal(originalID: sold.id, product: sold.product, signedAt: PipelineHouse.now)
        }
    }

    private static let download = AppDownload(bundleID: TestAuthority.bundleID, signedAt: PipelineHouse.now)

    private static let signed = [
        row("a transaction", "recorded") { try Proofs.jws(1) },
        row("a transaction of no store", "pending") {
            try unplaced(.transaction(Proofs.transaction(1), of: signer.app))
        },
        row("renewal info", "nothing") { Array(try signer.renewal(renewal).utf8) },
        row("renewal info of no store", "nothing") { try unplaced(.renewal(renewal, of: signer.app)) },
        row("an AppTransaction", "nothing") { Array(try signer.appTransaction(download).utf8) },
        row("an AppTransaction of no store", "nothing") {
            try unplaced(.appTransaction(download, of: signer.app), "receiptType")
        },
        row("a notification", "recorded") { try notice(Proofs.transaction(1), namesStore: true) },
        row("a notification of nothing", "nothing") { try notice(nil, namesStore: true) },
        row("a notification of nothing of no store", "nothing") { try notice(nil, namesStore: false) },
        row("a receipt", "recorded") { try signer.receipt([Proofs.transaction(1)], createdAt: PipelineHouse.now) },
        // Apple may know of a purchase that does not stand in it.
        row("a receipt without purchases", "pending") { try signer.receipt([], createdAt: PipelineHouse.now) },
        // One purchase stands in every one of them.
        row("an iOS 6 receipt", "recorded") { try oldReceipt(1_000_000_000_000_001) },
        row("an iOS 6 receipt of no store", "pending") { try oldReceipt(9) },
    ]

    /// Nobody has signed these: what stands in them is what Apple is asked about.
    private static let unsigned = [
        text("a number", "pending", "170000029449420"),
        text(
            "an answer of verifyReceipt",
            "pending",
            #"{"status":0,"receipt":{"bundle_id":"com.example.simulated","in_app":[{"quantity":"1","#
                + #""product_id":"a","transaction_id":"1","purchase_date_ms":"1500000000000"}]}}"#
        ),
        text("an answer without purchases", "refused unreadable", #"{"status":0,"receipt":{"in_app":[]}}"#),
        text(
            "a notification of version 1",
            "pending",
            #"{"notification_type":"CANCEL","latest_receipt_info":{"product_id":"a","transaction_id":"1","#
                + #""quantity":"1","purchase_date_ms":"1500000000000"}}"#
        ),
        text("one of a subscription", "pending", #"{"notification_type":"DID_RENEW","original_transaction_id":1}"#),
        text(
            "one whose renewals are pending",
            "pending",
            #"{"notification_type":"DID_FAIL_TO_RENEW","unified_receipt":{"pending_renewal_info":["#
                + #"{"original_transaction_id":"1"}]}}"#
        ),
        // Of a consumable that the app has finished.
        text(
            "one with neither a number nor a receipt",
            "nothing",
            #"{"notification_type":"REFUND","unified_receipt":{"status":0,"latest_receipt_info":[]}}"#
        ),
        text(
            "one with what is no receipt",
            "nothing",
            #"{"notification_type":"REFUND","unified_receipt":{"status":0,"latest_receipt":"bm9uc2Vuc2U="}}"#
        ),
    ]

    @Test(arguments: signed + unsigned) func itIsRecordedOrWaitsOrHoldsNothing(row: Row) async throws {
        let certificate = try StoreAuthority.one.get().certificate
        try await PipelineHouse(intermediates: [certificate]).open { (house) async throws in
            let proof = try row.proof()
            #expect(try await house.submit(proof).word == row.word)
            #expect(try await house.figures().pendingSubmissions == (row.word == "pending" ? 1 : 0))
        }
    }
}
