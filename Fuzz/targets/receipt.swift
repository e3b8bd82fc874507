import AppleFormats

/// DER and BER, the signed envelope, the receipt in it; and any bytes as the receipt's content.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzReceipt(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzInput(start, count)
    if let envelope = try? SignedData(bytes) { readReceipt(envelope.content) }
    readReceipt(bytes[...])
    return 0
}

private func readReceipt(_ content: ArraySlice<UInt8>) {
    guard let receipt = try? AppReceipt(content) else { return }
    // What was decoded whole must also be found by the quick look.
    precondition((try? AppReceipt.bundleID(in: content)) == receipt.bundleID, "two answers for one bundle id")
    for attribute in receipt.otherAttributes { _ = receipt.value(of: attribute).count }
    for purchase in receipt.purchases { _ = receipt.otherAttributes(of: purchase).map(receipt.value) }
}
