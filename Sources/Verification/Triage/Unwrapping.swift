import Encoding

/// Takes off what proofs are wrapped in on their way: base64 in every shape that people send, percent-encoding, JSON
/// strings, the bodies of Apple's own endpoints. Each layer is named, so that the report can say what was done.
struct Unwrapping {
    /// A receipt that was base64-encoded twice, sent in JSON, percent-encoded: nobody honest needs more.
    static let layersMax = 5

    enum Layer: String {
        case base64
        case percentEncoding = "percent_encoding"
        case jsonString = "json_string"
        case jsonMember = "json_member"
        case backslashes
        case whitespace
    }

    /// What was taken off, outermost first. White space and backslashes come off together with what they stand in.
    private(set) var layers: [Layer] = []
    private var layersCount = 0

    /// The bytes one layer further in, or `nil` when nothing is left to take off.
    mutating func unwrapped(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard mayTakeOff() else { return nil }
        if bytes.first == UInt8(ascii: "\"") { return jsonString(bytes) }
        if bytes.contains(UInt8(ascii: "%")) { return percentDecoded(bytes) }
        return base64Decoded(bytes)
    }

    private mutating func mayTakeOff() -> Bool {
        layersCount += 1
        return layersCount <= Unwrapping.layersMax
    }

    private mutating func jsonString(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard let text = try? JSONDocument(Array(bytes)).root.utf8 else { return nil }
        layers.append(.jsonString)
        return Array(text)
    }

    /// The proof in a body that was meant for Apple, or came from Apple.
    mutating func member(of document: JSONDocument) -> [UInt8]? {
        guard mayTakeOff(), let object = document.root.object else { return nil }
        guard let text = (object[Unwrapping.receiptData] ?? Unwrapping.signed(in: object))?.utf8 else { return nil }
        layers.append(.jsonMember)
        return Array(text)
    }

    /// Whether it is the body of a request to verifyReceipt: the proof is taken out of `receipt-data`.
    static func isReceiptRequest(_ document: JSONDocument) -> Bool { document.root.object?[receiptData] != nil }

    private static let receiptData = "receipt-data"

    /// Whether a text that Apple signed stands in it, as in an element of the App Store Server API's answers.
    static func wrapsSigned(_ object: JSONObject) -> Bool { signed(in: object)?.utf8 != nil }

    private static func signed(in object: JSONObject) -> JSONValue? {
        object["signedPayload"] ?? object["signedTransactionInfo"] ?? object["signedRenewalInfo"]
            ?? object["signedAppTransactionInfo"]
    }

    private mutating func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var position = bytes.startIndex
        while position < bytes.endIndex {
            guard bytes[position] == UInt8(ascii: "%") else {
                decoded.append(bytes[position])
                position += 1
                continue
            }
            guard bytes.endIndex - position >= 3, let high = Hexadecimal.value(of: bytes[position + 1]),
                let low = Hexadecimal.value(of: bytes[position + 2])
            else { return nil }
            decoded.append(high << 4 | low)
            position += 3
        }
        layers.append(.percentEncoding)
        return decoded
    }

    private mutating func base64Decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard let text = Base64Text(bytes), let decoded = text.decoded() else { return nil }
        if text.isWrapped { layers.append(.whitespace) }
        if text.isEscaped { layers.append(.backslashes) }
        layers.append(.base64)
        return decoded
    }
}
