import AppleFormats

/// The text plist, and the iOS 6 receipt written in it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPlist(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzInput(start, count)
    _ = OldPlist.isLikely(bytes)
    if let plist = try? OldPlist(bytes.span) {
        let again = try? OldPlist(OldPlist.encode(plist.pairs).span)
        precondition(again == plist, "what was written is not what was read")
    }
    if let receipt = try? PlistReceipt(bytes) {
        let purchase = receipt.purchase
        _ = [purchase.purchaseDate, purchase.originalPurchaseDate, purchase.expiresDate, purchase.quantity]
        _ = [purchase.isTrialPeriod, purchase.isInIntroOfferPeriod]
    }
    return 0
}
