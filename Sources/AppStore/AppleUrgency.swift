/// Whether somebody waits for what Apple is asked.
package enum AppleUrgency: Hashable, Sendable {
    /// A customer does, or a person who helps one.
    case awaited
    /// Nobody does. Of what may be asked at once half is left to those for whom somebody waits.
    case patient
}
