import AppleFormats
import Encoding

/// verifyReceipt's answers and version 1 notifications.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAnswer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let document = try? JSONDocument(fuzzInput(start, count)) else { return 0 }
    if let answer = try? VerifyReceiptResponse(document) {
        _ = answer.status?.deservesRetry(isRetryable: answer.isRetryable)
    }
    _ = try? NotificationV1(document)
    return 0
}
