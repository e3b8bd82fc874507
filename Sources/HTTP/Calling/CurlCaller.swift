import Dispatch
import Synchronization

/// Sends requests through libcurl: one thread of its own drives all calls, so that no task's thread ever waits.
///
/// HTTP and HTTPS only, certificates are always checked, connections are kept and used again. It ends when nobody holds
/// it any more; calls that are under way then fail as cancelled.
package final class CurlCaller: Sendable {
    private let loop: CurlLoop

    package init(_ settings: CallerSettings = CallerSettings()) {
        let loop = CurlLoop(settings)
        self.loop = loop
        // A queue of its own is a thread of its own: the loop blocks in the kernel, which no shared thread may.
        DispatchQueue(label: "assay.http.calling").async { loop.run() }
    }

    deinit {
        loop.stop()
    }

    /// The closure that everybody else takes; it keeps this caller alive.
    package var caller: HTTPCaller {
        HTTPCaller { [self] call async throws(HTTPCallFailure) in try await send(call) }
    }

    package func send(_ call: HTTPCall) async throws(HTTPCallFailure) -> HTTPResponse {
        guard call.isSendable else { throw .invalidCall }
        let transfer = CurlTransfer(call)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.start(continuation)
                loop.add(transfer)
            }
        } onCancel: {
            loop.cancel(transfer)
        }
        return try result.get()
    }
}

/// What the thread and the callers share. The thread holds it until it has ended.
final class CurlLoop: Sendable {
    private struct State {
        var arrived: [CurlTransfer] = []
        var cancelled: [CurlTransfer] = []
        /// Arrived or under way.
        var count = 0
        var isOver = false
    }

    private let settings: CallerSettings
    private let multi: CurlMulti
    private let state = Mutex(State())

    init(_ settings: CallerSettings) {
        self.settings = settings
        multi = CurlMulti(settings)
    }

    func add(_ transfer: CurlTransfer) {
        let refusal: HTTPCallFailure? = state.withLock { state in
            if state.isOver { return .cancelled }
            guard state.count < settings.callsMax else { return .tooManyCalls }
            state.count += 1
            state.arrived.append(transfer)
            return nil
        }
        if let refusal { return transfer.finish(.failure(refusal)) }
        multi.wake()
    }

    func cancel(_ transfer: CurlTransfer) {
        state.withLock { $0.cancelled.append(transfer) }
        multi.wake()
    }

    func stop() {
        state.withLock { $0.isOver = true }
        multi.wake()
    }

    /// The thread's life.
    func run() {
        CurlMulti.ignorePipes()
        var underway: [ObjectIdentifier: CurlEasy] = [:]
        while true {
            let (arrived, cancelled, isOver) = state.withLock { state in
                defer {
                    state.arrived = []
                    state.cancelled = []
                }
                return (state.arrived, state.cancelled, state.isOver)
            }
            if isOver {
                for easy in underway.values { end(easy, .failure(.cancelled)) }
                for transfer in arrived { transfer.finish(.failure(.cancelled)) }
                return
            }
            for transfer in arrived {
                guard !transfer.isCancelled else {
                    close(transfer, .failure(.cancelled))
                    continue
                }
                guard let easy = CurlEasy(transfer, settings), multi.add(easy) else {
                    close(transfer, .failure(.invalidCall))
                    continue
                }
                underway[ObjectIdentifier(transfer)] = easy
            }
            for transfer in cancelled {
                guard let easy = underway.removeValue(forKey: ObjectIdentifier(transfer)) else {
                    // Not here yet, or over: whoever comes second finds it finished.
                    transfer.cancel()
                    continue
                }
                end(easy, .failure(.cancelled))
            }
            for (easy, result) in multi.perform(underway) {
                underway[ObjectIdentifier(easy.transfer)] = nil
                end(easy, result)
            }
            multi.wait()
        }
    }

    private func end(_ easy: CurlEasy, _ result: Result<HTTPResponse, HTTPCallFailure>) {
        multi.remove(easy)
        close(easy.transfer, result)
    }

    private func close(_ transfer: CurlTransfer, _ result: Result<HTTPResponse, HTTPCallFailure>) {
        state.withLock { $0.count -= 1 }
        transfer.finish(result)
    }
}
