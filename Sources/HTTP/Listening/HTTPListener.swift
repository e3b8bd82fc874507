import Dispatch
import Synchronization

/// Answers HTTP/1.1 and 1.0 on one address with a handler.
///
/// One thread of its own reads, parses and writes (`BeastListener`); each request's handler runs in a task below
/// ``run()``, and is cancelled when its client leaves first. No TLS and no HTTP/2: a reverse proxy in front speaks them.
///
///     let listener = try HTTPListener(address: "127.0.0.1", port: 8080, handler: router.handler) { event in … }
///     await listener.run()    // until stop() and everything is answered
package final class HTTPListener: Sendable {
    /// The port that is listened on: the kernel's choice when 0 was asked for.
    package let port: UInt16

    private let beast: BeastListener
    private let handler: HTTPHandler
    private let report: @Sendable (HTTPEvent) -> Void
    private let lanes: Int
    private let streamsMax: Int
    /// Streams whose sources have not ended, whether or not their clients are still there.
    private let streams = Mutex(0)
    private let queue = ExchangeQueue()

    /// Binds and listens; clients wait until ``run()``.
    ///
    /// - Parameters:
    ///   - address: an IPv4 or IPv6 address in text; `::` takes both kinds of clients.
    ///   - port: 0 for a free one.
    ///   - limits: what a client is allowed.
    ///   - lanes: how many handlers may compute at once: the processor's cores.
    ///   - handler: answers each request.
    ///   - report: called on the I/O thread and in the handlers' tasks; it must be quick.
    /// - Throws: ``HTTPListenerFailure``.
    package init(
        address: String,
        port: UInt16,
        limits: HTTPLimits = HTTPLimits(),
        lanes: Int,
        handler: HTTPHandler,
        report: @escaping @Sendable (HTTPEvent) -> Void
    ) throws(HTTPListenerFailure) {
        beast = try BeastListener(address: address, port: port, limits: limits)
        self.port = beast.port
        self.lanes = max(1, lanes)
        streamsMax = limits.streams
        self.handler = handler
        self.report = report
    }

    /// Serves until ``stop()`` has let everybody out. To be called once.
    ///
    /// Cancelling its task is a stop, too, with every handler cancelled.
    package func run() async {
        // A queue of its own is a thread of its own: the loop blocks in the kernel, which no shared thread may.
        DispatchQueue(label: "assay.http").async { self.runLoop() }
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                for _ in 0..<lanes {
                    group.addTask { await self.runLane() }
                }
            }
        } onCancel: {
            stop()
        }
    }

    /// Ends gracefully: clients that are connected get their answers and are told to leave (``HTTPLimits/drain``).
    package func stop() {
        beast.stop()
    }

    /// Starts one request after another on the thread that took it, until each of them first waits for something.
    ///
    /// To hand a request to another thread costs as much as to parse it, so that is done once. There are as many lanes
    /// as threads that could run handlers at once; more would only wake each other.
    private func runLane() async {
        await withDiscardingTaskGroup { group in
            while let exchange = await queue.next() {
                group.addImmediateTask { await self.serve(exchange) }
            }
        }
    }

    /// Runs one handler. In a group of one, because only a group can cancel one child and not the others.
    private func serve(_ exchange: Exchange) async {
        await withDiscardingTaskGroup { group in
            group.addImmediateTask {
                let response = await self.handler.respond(exchange.request)
                let answer = SerializedAnswer(response)
                if answer.isReplaced { self.report(.unsendable(HTTPRequestSummary(exchange.request))) }
                if let stream = response.stream, !answer.isReplaced {
                    await self.send(stream, after: answer, exchange)
                } else {
                    self.beast.answer(exchange.ticket, answer)
                }
                exchange.end(.answered)
            }
            if await exchange.outcome() == .left { group.cancelAll() }
        }
    }
}

// Streams.
extension HTTPListener {
    /// Sends a stream to its end, or the client's. Nothing is asked of it for a HEAD, or where there are too many.
    private func send(_ stream: HTTPStream, after answer: SerializedAnswer, _ exchange: Exchange) async {
        let (id, ticket) = (exchange.request.id, exchange.ticket)
        // Nobody asks for it any more, and a stream may last.
        _ = exchange.request.takeBody()
        if exchange.request.method == .head { return beast.answer(ticket, answer, stream: id) }
        let hasRoom = streams.withLock { count in
            guard count < streamsMax else { return false }
            count += 1
            return true
        }
        guard hasRoom else {
            report(.refused(.tooManyStreams, exchange.request.remote))
            return beast.answer(ticket, SerializedAnswer(HTTPRefusal.tooManyStreams.response))
        }
        defer { streams.withLock { $0 -= 1 } }
        beast.answer(ticket, answer, stream: id)
        while await exchange.isWanted() {
            beast.send(await HTTPListener.part(of: stream), of: id, to: ticket)
        }
    }

    private static func part(of stream: HTTPStream) async -> StreamPart {
        do throws(HTTPStream.Broken) {
            return try await stream.next().map { .more($0) } ?? .last
        } catch {
            return .cut
        }
    }
}

// The I/O thread.
extension HTTPListener {
    private func runLoop() {
        var loop = ListenerLoop(report: report)
        while let exchanges = loop.next(from: beast) {
            queue.append(exchanges)
        }
        queue.finish()
    }
}
