/// Whose clock says until when something is leased, and what is due.
package enum LeaseClock: Sendable {
    case callers
    case database
}
