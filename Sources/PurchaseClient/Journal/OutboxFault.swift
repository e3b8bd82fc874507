/// Why the outbox cannot be opened, or a purchase not be kept in it.
public enum OutboxFault: Error, Hashable, Sendable {
    /// Another process has it open, or another client in this one. Two that send the same purchases would undo each
    /// other's lines.
    case inUse
    /// No room is left on the disk. Worth another try once there is.
    case diskFull
    /// The file may not be opened, or not yet.
    case notPermitted
    /// A newer version of this library has written it.
    case newer
    /// Anything else that the system says, by its number (`errno`).
    case system(Int32)
    /// The server would not take the customer's or the order's name: 1 to 255 printable ASCII characters without spaces, and
    /// neither `.` nor `..`; a customer's is no word for nothing either, such as `null` or `undefined`.
    case invalidName
}
