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

    private(set) var layers: [Layer] = []

    /// The bytes one layer further in, or `nil` when nothing is left to take off.
    mutating func unwrapped(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard layers.count < Unwrapping.layersMax else { return nil }
        if bytes.first == UInt8(ascii: "\"") { return jsonString(bytes) }
        if bytes.first == UInt8(ascii: "{") { return jsonMember(bytes) }
        if bytes.contains(UInt8(ascii: "%")) { return percentDecoded(bytes) }
        return base64Decoded(bytes)
    }

    private mutating func jsonString(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard let text = try? JSONDocument(Array(bytes)).root.utf8 else { return nil }
        layers.append(.jsonString)
        return Array(text)
    }

    /// The proof in a body that was meant for Apple, or came from Apple.
    private mutating func jsonMember(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard let object = try? JSONDocument(Array(bytes)).root.object else { return nil }
        let proof =
            object["receipt-data"] ?? object["signedPayload"] ?? object["signedTransactionInfo"]
            ?? object["signedRenewalInfo"] ?? object["signedAppTransactionInfo"]
        guard let text = proof?.utf8 else { return nil }
        layers.append(.jsonMember)
        return Array(text)
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
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var isWrapped = false
        var isEscaped = false
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            switch byte {
            case 0x0A, 0x0D, 0x09, 0x20:
                isWrapped = true
            case UInt8(ascii: "\\"):
                // What is left of a JSON string that was cut out of its quotes: `\/`, `\n`, `\r`, `\t`.
                guard position < bytes.endIndex else { return nil }
                if bytes[position] == UInt8(ascii: "/") { text.append(UInt8(ascii: "/")) }
                isEscaped = true
                position += 1
            case UInt8(ascii: "-"): text.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): text.append(UInt8(ascii: "/"))
            default: text.append(byte)
            }
        }
        let decoded = try? Base64.decode(text, .standard, padding: .optional)
        guard let decoded = decoded ?? plusSigns(bytes) ?? wholeGroups(of: text) else { return nil }
        if isWrapped { layers.append(.whitespace) }
        if isEscaped { layers.append(.backslashes) }
        layers.append(.base64)
        return decoded
    }

    /// What was cut off in the middle of a group is decoded as far as it goes, so that it can be told from junk.
    private func wholeGroups(of text: [UInt8]) -> [UInt8]? {
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        guard digits.count >= 64 else { return nil }
        return try? Base64.decode(digits.prefix(digits.count / 4 * 4), .standard, padding: .forbidden)
    }

    /// A form that was read as if it were percent-encoded has turned each `+` into a space.
    private func plusSigns(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        guard bytes.contains(0x20) else { return nil }
        let text = bytes.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }
        return try? Base64.decode(text, .standard, padding: .optional)
    }
}
