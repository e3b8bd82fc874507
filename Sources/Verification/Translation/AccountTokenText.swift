import Encoding
package import PurchaseModel

extension AccountToken {
    /// `nil` unless the text is a UUID, in either case.
    package init?(uuid text: String) {
        guard let (high, low) = UUIDText.halves(text) else { return nil }
        self.init(high: high, low: low)
    }
}
