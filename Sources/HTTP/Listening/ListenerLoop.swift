/// The I/O thread's book: which requests are under way, and what is to be reported of them.
struct ListenerLoop {
    /// No more requests than this are gathered before their handlers start.
    private static let batchMax = 64

    private let report: @Sendable (HTTPEvent) -> Void
    private var underway: [Ticket: Exchange] = [:]
    private var lastID: UInt64 = 0

    init(report: @escaping @Sendable (HTTPEvent) -> Void) {
        self.report = report
    }

    /// Waits for events; the requests among those that are there already, or `nil` at the end.
    mutating func next(from listener: BeastListener) -> [Exchange]? {
        var arrived: [Exchange] = []
        while arrived.count < ListenerLoop.batchMax {
            switch listener.next(waits: arrived.isEmpty) {
            case .none:
                if !arrived.isEmpty { return arrived }
            case .ended:
                return arrived.isEmpty ? nil : arrived
            case .request(let ticket, var request):
                lastID += 1
                request.id = lastID
                let exchange = Exchange(ticket, request)
                underway[ticket] = exchange
                arrived.append(exchange)
            case .left(let ticket):
                underway[ticket]?.end(.left)
            case .answered(let ticket, let status, let bytes, let duration):
                guard let exchange = underway.removeValue(forKey: ticket) else { continue }
                report(.served(HTTPRequestSummary(exchange.request), status, bytes: bytes, duration: duration))
            case .wanted(let ticket):
                underway[ticket]?.ask()
            case .streamed(let ticket, let status, let end, let bytes, let duration):
                guard let exchange = underway.removeValue(forKey: ticket) else { continue }
                exchange.end(.left)
                report(.streamed(HTTPRequestSummary(exchange.request), status, end, bytes: bytes, duration: duration))
            case .unanswered(let ticket, let status):
                guard let exchange = underway.removeValue(forKey: ticket) else { continue }
                exchange.end(.left)
                report(.unanswered(HTTPRequestSummary(exchange.request), status))
            case .accepted(let remote):
                report(.accepted(remote))
            case .refused(let refusal, let remote):
                report(.refused(refusal, remote))
            case .exhausted(let errno):
                report(.exhausted(errno: errno))
            }
        }
        return arrived
    }
}
