package import PurchaseModel

/// The moments that a store's time can have.
package enum StoreTime {
    /// 2000-01-01T00:00:00Z to 9000-01-01T00:00:00Z. Dates are written with four digits of a year, so that no period may
    /// end after 9999: one that cannot end later than it begins would be renewed for ever.
    package static let range = Timestamp(seconds: 946_684_800)...Timestamp(seconds: 221_845_392_000)
}
