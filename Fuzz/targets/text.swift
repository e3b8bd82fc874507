import AppleFormats
import Encoding

/// Base64 in both alphabets, hexadecimal digits, dates: the small shapes in which everything else arrives.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = fuzzInput(start, count)
    for alphabet in [Base64.Alphabet.standard, .url] {
        if let bytes = try? Base64.decode(text, alphabet, padding: .required) {
            precondition(Base64.encode(bytes, alphabet, isPadded: true) == text, "two texts for the same bytes")
        }
        if let bytes = try? Base64.decode(text, alphabet, padding: .forbidden) {
            precondition(Base64.encode(bytes, alphabet, isPadded: false) == text, "two texts for the same bytes")
        }
        _ = try? Base64.decode(text, alphabet, padding: .optional)
        let encoded = Base64.encode(text, alphabet, isPadded: true)
        precondition((try? Base64.decode(encoded, alphabet, padding: .required)) == text, "bytes that were lost")
    }
    if let bytes = Hexadecimal.decode(text) {
        precondition(Hexadecimal.decode(Hexadecimal.encode(bytes)) == bytes, "bytes that were lost")
    }
    let moment = AppleDate.milliseconds(text.span)
    // Where both know the shape, they must agree on the moment.
    if let strict = RFC3339.milliseconds(text.span), let moment {
        precondition(strict == moment, "two moments for one text")
    }
    return 0
}
