import AppleFormats
import TestSupport
import Testing

@Suite("Real app receipts", .enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)))
struct ReceiptCorpusTests {
    @Test("open into what another program found in them", arguments: CorpusCase.all(in: "receipts"))
    func envelope(_ sample: CorpusCase) throws {
        let bytes = try sample.content()
        let envelope = try SignedData(bytes)
        let facts = try #require(try sample.recordedFacts())
        let outer = try #require(facts["outer"] as? [String: Any])
        #expect(envelope.version == 1)
        #expect(envelope.contentType == .data)
        #expect(envelope.content.count == number(ofFact: outer["content_len"]).map(Int.init))
        #expect(envelope.signers.count == number(ofFact: outer["n_signers"]).map(Int.init))
        let digests = try #require(outer["digest_algs"] as? [String])
        #expect(envelope.digestAlgorithms == digests.map { $0 == "sha1" ? .sha1 : .sha256 })
        let certificates = try #require(facts["certs"] as? [[String: Any]])
        #expect(envelope.certificates.count == certificates.count)
        let signer = try #require(envelope.signers.first)
        #expect(signer.signedAttributes == nil)
        #expect(signer.signature.count == 256)
        guard case .issuerAndSerial(_, let serial) = signer.identity else {
            Issue.record("the signer is named by its key")
            return
        }
        let serials = certificates.compactMap { $0["serial"] as? String }
        let trimmed = hexadecimal(serial).drop { $0 == "0" }
        #expect(serials.contains("0x" + trimmed))
    }

    @Test("hold the fields that another program found in them", arguments: CorpusCase.all(in: "receipts"))
    func fields(_ sample: CorpusCase) throws {
        let receipt = try AppReceipt(SignedData(sample.content()).content)
        let facts = try #require(try sample.recordedFacts())
        let fields = try #require(facts["fields"] as? [String: Any])
        #expect(receipt.kind == text(ofFact: fields["receipt_type"]))
        #expect(receipt.bundleID == text(ofFact: fields["bundle_id"]))
        #expect(receipt.applicationVersion == text(ofFact: fields["application_version"]))
        #expect(receipt.originalApplicationVersion == text(ofFact: fields["original_application_version"]))
        #expect(receipt.appAppleID == number(ofFact: fields["app_item_id"]))
        #expect(receipt.downloadID == number(ofFact: fields["download_id"]))
        #expect(receipt.versionExternalID == number(ofFact: fields["version_external_identifier"]))
        #expect(try receipt.creationDate == milliseconds(ofFact: fields["receipt_creation_date"]))
        #expect(try receipt.requestDate == milliseconds(ofFact: fields["receipt_request_date"]))
        #expect(try receipt.originalPurchaseDate == milliseconds(ofFact: fields["original_purchase_date"]))
        #expect(try receipt.expirationDate == milliseconds(ofFact: fields["expiration_date"]))
        #expect(hexadecimal(receipt.opaqueValue) == fields["opaque"] as? String)
        #expect(hexadecimal(receipt.deviceHash) == fields["sha1_hash"] as? String)
        #expect(receipt.text(of: ReceiptAttribute.Receipt.ageRating) == text(ofFact: fields["age_rating"]))
        for type: Int32 in [9, 11, 13, 14, 25] {
            #expect(receipt.number(of: type) == number(ofFact: fields["t\(type)"]))
        }
        #expect(try AppReceipt.bundleID(in: SignedData(sample.content()).content) == receipt.bundleID)
    }

    @Test("keep every attribute that has no field", arguments: CorpusCase.all(in: "receipts"))
    func attributes(_ sample: CorpusCase) throws {
        let receipt = try AppReceipt(SignedData(sample.content()).content)
        let facts = try #require(try sample.recordedFacts())
        let attributes = try #require(facts["attributes_in_order"] as? [[String: Any]])
        let named: Set<Int64> = [0, 1, 2, 3, 4, 5, 8, 12, 15, 16, 17, 18, 19, 21]
        let others = attributes.filter { !named.contains(number(ofFact: $0["type"]) ?? -1) }
        #expect(receipt.otherAttributes.count == others.count)
        for (ours, theirs) in zip(receipt.otherAttributes, others) {
            #expect(Int64(ours.type) == number(ofFact: theirs["type"]))
            #expect(Int64(ours.version) == number(ofFact: theirs["version"]))
            #expect(hexadecimal(receipt.value(of: ours)) == theirs["value_hex"] as? String)
        }
        let bundle = attributes.first { number(ofFact: $0["type"]) == 2 }
        #expect(hexadecimal(receipt.bundleIDOctets) == bundle?["value_hex"] as? String)
    }

    @Test("hold the purchases that another program found in them", arguments: CorpusCase.all(in: "receipts"))
    func purchases(_ sample: CorpusCase) throws {
        let receipt = try AppReceipt(SignedData(sample.content()).content)
        let facts = try #require(try sample.recordedFacts())
        let theirs = try #require(facts["in_app"] as? [[String: Any]])
        #expect(receipt.purchases.count == sample.expect.inAppCount)
        #expect(receipt.purchases.count == theirs.count)
        for (purchase, fact) in zip(receipt.purchases, theirs) {
            #expect(purchase.quantity == number(ofFact: fact["quantity"]))
            #expect(receipt.string(purchase.productID) == text(ofFact: fact["product_id"]))
            #expect(receipt.string(purchase.transactionID) == text(ofFact: fact["transaction_id"]))
            #expect(receipt.string(purchase.originalTransactionID) == text(ofFact: fact["original_transaction_id"]))
            #expect(try purchase.purchaseDate == milliseconds(ofFact: fact["purchase_date"]))
            #expect(try purchase.originalPurchaseDate == milliseconds(ofFact: fact["original_purchase_date"]))
            #expect(try purchase.expiresDate == milliseconds(ofFact: fact["expires_date"]))
            #expect(try purchase.cancellationDate == milliseconds(ofFact: fact["cancellation_date"]))
            #expect(purchase.webOrderLineItemID == number(ofFact: fact["web_order_line_item_id"]))
            #expect(purchase.isTrialPeriod == number(ofFact: fact["is_trial_period"]).map { $0 == 1 })
            #expect(purchase.isInIntroOfferPeriod == number(ofFact: fact["is_in_intro_offer_period"]).map { $0 == 1 })
            #expect(receipt.string(purchase.promotionalOfferID) == text(ofFact: fact["promotional_offer_id"]))
            #expect(purchase.productType == number(ofFact: fact["attr_1707_product_type"]))
            #expect(purchase.productAppleID == number(ofFact: fact["attr_1710_item_id"]))
        }
    }
}
