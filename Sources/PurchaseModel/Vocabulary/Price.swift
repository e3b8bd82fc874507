/// An amount of money in thousandths of a currency's unit, as Apple counts it: 4990 USD is $4.99.
package struct Price: Hashable, Sendable {
    package let milliunits: Int64
    /// ISO 4217, three capital letters.
    package let currency: String

    package init(milliunits: Int64, currency: String) {
        self.milliunits = milliunits
        self.currency = currency
    }
}
