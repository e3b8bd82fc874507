/// What the listener allows a client, and all of them together.
///
/// The durations are absolute: a byte now and then does not lengthen them.
package struct HTTPLimits: Sendable, Equatable {
    /// A request's line and fields. Ours need a key, and proxies add their own: some hundred bytes.
    package var headerBytes = 16 << 10
    package var headerFields = 100
    /// A receipt of years of daily subscriptions, in Base64, is told to exceed one MiB.
    package var bodyBytes = 4 << 20
    /// All bodies that are being read, waiting or in the hands of handlers, and all answers not yet taken by their clients:
    /// beyond it a client whose body arrives is told 503. At least some bodies of the longest that is allowed.
    package var bufferedBytes = 256 << 20
    /// Beyond it a client is told 503 and let go, 64 at a time; the rest wait in the kernel's queue. It is lowered to
    /// what the process has descriptors for.
    package var connections = 10_000
    /// Requests handed to the handler and not yet answered; beyond it a client is told 503.
    package var requests = 1_024
    /// Answers that are streams; beyond it a client is told 503. A stream is no request in flight any more.
    package var streams = 1_000
    /// From a request's first byte to the end of its fields; for a new connection, until the first byte.
    package var header: Duration = .seconds(10)
    /// From the end of the fields to the end of the body.
    package var body: Duration = .seconds(30)
    /// Between two requests on a connection.
    package var idle: Duration = .seconds(60)
    /// In which a client must take 4 KiB of an answer, or the rest of it; of a stream, of each chunk.
    package var write: Duration = .seconds(30)
    /// How long a client may go on sending after its last answer, so that it reads the answer before the end.
    package var linger: Duration = .seconds(2)
    /// How long an idle connection may still send a request after ``HTTPListener/stop()``.
    package var drainIdle: Duration = .seconds(1)
    /// How long a graceful stop may last. Then connections are closed and their handlers cancelled. Streams are ended at
    /// once.
    package var drain: Duration = .seconds(20)

    package init() {}
}
