/// A body that is made while it is sent, and may have no end.
///
/// The listener asks for a chunk when it has handed the last one to the kernel, so no more than one waits for a slow
/// client. It asks no more when the client has left, and the task that asks is cancelled then. A stop of the listener
/// ends the body where it is: what must be known to be whole has to say so itself.
package final class HTTPStream: Sendable {
    /// There is no more, and what was sent is not whole: the connection is closed so that the client sees it.
    package struct Broken: Error, Equatable {
        package init() {}
    }

    /// The next chunk, or `nil` at the end. It is kept whole until it is sent, so let it be some tens of KiB at most; an
    /// empty one is passed over. Never asked twice at once.
    package let next: @Sendable () async throws(Broken) -> [UInt8]?

    package init(_ next: @escaping @Sendable () async throws(Broken) -> [UInt8]?) {
        self.next = next
    }
}

extension HTTPStream: Equatable {
    /// A stream can be read once, so each is another.
    package static func == (left: HTTPStream, right: HTTPStream) -> Bool { left === right }
}

/// Why a stream is over.
package enum HTTPStreamEnd: String, Sendable, CaseIterable {
    /// Its source had no more, and all is with the kernel.
    case whole
    /// Its source could not go on (``HTTPStream/Broken``).
    case broken
    /// The listener stops.
    case stopped
    /// The client left.
    case left
    /// The client did not take a chunk within ``HTTPLimits/write``.
    case tooSlow = "too_slow"
}
