import Dispatch

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
                let answer = SerializedAnswer(await self.handler.respond(exchange.request))
                if answer.isReplaced { self.report(.unsendable(HTTPRequestSummary(exchange.request))) }
                self.beast.answer(exchange.ticket, answer)
                exchange.end(.answered)
            }
            if await exchange.outcome() == .left { group.cancelAll() }
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
