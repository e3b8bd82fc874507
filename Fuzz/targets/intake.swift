import AppleFormats
import Encoding

/// The intake: what a submission is, whatever it is wrapped in. A wrapping must lose nothing, and make nothing of what is
/// nothing without it. The code under test is compiled into this module: it is nobody else's to call.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzIntake(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzInput(start, count)
    let plain = Opened(bytes)
    // What a wrapping does, it does to short inputs as well.
    guard count <= 2_048 else { return 0 }
    // The length chooses the dialect, and which other wrapping is tried: each costs as much as the input alone.
    let text = Base64.encode(bytes, count & 1 == 0 ? .standard : .url, isPadded: count & 2 == 0)
    precondition(Base64Text(text[...])?.decoded() == bytes, "bytes that were lost")
    precondition(Base64Text(folded(text))?.decoded() == bytes, "bytes that were lost between two lines")
    // A number is a number, whatever it might be the base64 of.
    if !text.allSatisfy({ (0x30...0x39).contains($0) }) { plain.check(wrapped: text) }
    if count & 4 == 0 {
        plain.check(wrapped: percentEncoded(bytes))
    } else if !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) {
        plain.check(wrapped: JSONWriter.object { $0.member("receipt-data", text) })
    }
    return 0
}

private func percentEncoded(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 3)
    for (place, digit) in Hexadecimal.encode(bytes).utf8.enumerated() {
        if place & 1 == 0 { text.append(UInt8(ascii: "%")) }
        text.append(digit)
    }
    return text
}

/// Lines as they stand in mail.
private func folded(_ text: [UInt8]) -> ArraySlice<UInt8> {
    var lines: [UInt8] = []
    for (place, byte) in text.enumerated() {
        if place > 0, place % 76 == 0 { lines += [0x0D, 0x0A] }
        lines.append(byte)
    }
    return lines[...]
}

/// What came of opening some bytes.
private struct Opened {
    private let kind: String?
    private let layers: Int

    init(_ bytes: [UInt8]) {
        var triage = Triage()
        kind = (try? triage.open(bytes)).map(Opened.kind)
        layers = triage.unwrapping.layers.count { $0 != .whitespace && $0 != .backslashes }
        precondition(layers <= Unwrapping.layersMax, "more layers than are taken off")
    }

    func check(wrapped: [UInt8]) {
        let other = Opened(wrapped)
        if let kind {
            precondition(
                other.kind == kind || layers == Unwrapping.layersMax,
                "\(kind) became \(other.kind ?? "nothing")"
            )
        } else {
            precondition(other.kind == nil, "nothing became \(other.kind ?? "something")")
        }
    }

    private static func kind(_ evidence: Evidence) -> String {
        switch evidence {
        case .appReceipt: "an app receipt"
        case .transactionReceipt: "a transaction receipt"
        case .jws: "a JWS"
        case .verifyReceiptResponse: "an answer"
        case .notificationV1: "a notification"
        case .transactionID: "a number"
        }
    }
}
