import Encoding
import PurchaseModel

extension AccountToken {
    /// `nil` unless the text is a UUID, in either case.
    init?(_ text: String) {
        guard let (high, low) = UUIDText.halves(text) else { return nil }
        self.init(high: high, low: low)
    }
}
