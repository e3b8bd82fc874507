import Encoding
import PurchaseModel

/// Reads `consumption`: how Apple is answered when a customer wants money back.
enum ConsumptionReader {
    static let known = ["answer", "consent", "delay_minutes", "samples", "refund_preference"]
    /// Of the twelve hours that Apple waits, half an hour is left for Apple to be away in.
    private static let delayRange: ClosedRange<Int64> = 0...690

    static func read(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> ConsumptionTerms {
        var terms = ConsumptionTerms()
        guard let object = reader.object(value, at: path, known: known) else { return terms }
        if let value = object["answer"], let answers = reader.bool(value, at: "\(path).answer") {
            terms.answers = answers
        }
        if let value = object["consent"], let rule = reader.word(value, at: "\(path).consent", ConsentRule.self) {
            terms.consent = rule
        }
        if let value = object["delay_minutes"],
            let minutes = reader.whole(value, at: "\(path).delay_minutes", delayRange)
        {
            terms.delay = .seconds(minutes * 60)
        }
        if let value = object["samples"] { readSamples(value, at: "\(path).samples", into: &terms, &reader) }
        if let value = object["refund_preference"] {
            terms.preference = reader.word(value, at: "\(path).refund_preference", RefundPreference.self)
        }
        return terms
    }

    /// `true`, or the products of which it is.
    private static func readSamples(
        _ value: JSONValue,
        at path: String,
        into terms: inout ConsumptionTerms,
        _ reader: inout MemberReader
    ) {
        if let all = value.bool {
            terms.offersSamples = all
            return
        }
        for (path, value) in reader.elements(value, at: path) {
            let product = reader.identifier(value, at: path, "1 to 255 printable ASCII characters", ProductID.init(_:))
            if let product { terms.sampleProducts.insert(product) }
        }
    }
}
