import AppleFormats
import Encoding

/// Signed texts; and, where the input begins like JSON, the input as header and as payload of each kind.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJWS(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzInput(start, count)
    if bytes.first == UInt8(ascii: "{") {
        _ = try? JWSHeader(bytes)
        readPayload(bytes)
    } else if let jws = try? CompactJWS(bytes) {
        _ = try? jws.signature()
        if let header = try? jws.headerBytes() { _ = try? JWSHeader(header) }
        if let payload = try? jws.payloadBytes() { readPayload(payload) }
    }
    return 0
}

private func readPayload(_ bytes: [UInt8]) {
    guard let document = try? JSONDocument(bytes) else { return }
    _ = PayloadKind(of: document)
    if let payload = try? TransactionPayload(document) {
        let again = try? TransactionPayload(JSONDocument.ofApple(payload.encode()))
        precondition(again == payload, "what was written is not what was read")
    }
    if let payload = try? RenewalInfoPayload(document) {
        let again = try? RenewalInfoPayload(JSONDocument.ofApple(payload.encode()))
        precondition(again == payload, "what was written is not what was read")
    }
    if let payload = try? NotificationPayload(document) {
        let again = try? NotificationPayload(JSONDocument.ofApple(payload.encode()))
        precondition(again == payload, "what was written is not what was read")
    }
    if let payload = try? AppTransactionPayload(document) {
        let again = try? AppTransactionPayload(JSONDocument.ofApple(payload.encode()))
        precondition(again == payload, "what was written is not what was read")
    }
}
