import Synchronization

/// One call on its way: who waits for it, and what has come of the answer so far.
///
/// The thread of the loop alone writes the answer; the lock is there for who cancels.
final class CurlTransfer: Sendable {
    typealias Answer = Result<HTTPResponse, HTTPCallFailure>

    private struct State {
        var waiting: CheckedContinuation<Answer, Never>?
        var isCancelled = false
        var fields: HTTPFields = [:]
        var fieldBytes = 0
        var body: [UInt8] = []
        var hasBody = false
        var isTooLarge = false
        var isCut = false
        var isAddressRefused = false
    }

    let call: HTTPCall
    private let state = Mutex(State())

    init(_ call: HTTPCall) {
        self.call = call
    }

    func start(_ continuation: CheckedContinuation<Answer, Never>) {
        state.withLock { $0.waiting = continuation }
    }

    /// Lets go who waits; whatever comes second does nothing.
    func finish(_ answer: Answer) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: answer)
    }

    func cancel() {
        state.withLock { $0.isCancelled = true }
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    var isTooLarge: Bool { state.withLock { $0.isTooLarge } }
    /// Ended by us, with all of the body that was wanted.
    var isCut: Bool { state.withLock { $0.isCut } }
    var isAddressRefused: Bool { state.withLock { $0.isAddressRefused } }

    func refuseAddress() {
        state.withLock { $0.isAddressRefused = true }
    }

    /// Takes a piece of the body; false when it would be too long, or, if it may be cut, when the rest is not wanted.
    func take(body piece: Span<UInt8>, atMost bytesMax: Int, isCuttable: Bool) -> Bool {
        state.withLock { state in
            let room = bytesMax - state.body.count
            let isWhole = piece.count <= room
            guard isWhole || isCuttable else {
                state.isTooLarge = true
                return false
            }
            state.hasBody = true
            state.isCut = !isWhole
            let kept = piece.extracting(first: room)
            state.body.reserveCapacity(state.body.count + kept.count)
            for index in kept.indices { state.body.append(kept[index]) }
            return isWhole
        }
    }

    /// Takes a line of the answer's head, a status line among them, with its end; false when it would be too long.
    func take(line: Span<UInt8>, atMost bytesMax: Int) -> Bool {
        var text: [UInt8] = []
        for index in line.indices where line[index] != 0x0D && line[index] != 0x0A { text.append(line[index]) }
        return state.withLock { state in
            state.fieldBytes += line.count
            guard state.fieldBytes <= bytesMax else {
                state.isTooLarge = true
                return false
            }
            if text.starts(with: Array("HTTP/".utf8)) {
                // An interim answer, or one that sent us elsewhere, is over.
                state.fields = [:]
                state.body = []
                state.hasBody = false
            } else if !state.hasBody, let colon = text.firstIndex(of: UInt8(ascii: ":")) {
                // What follows a body is a trailer, which nobody asked for.
                let value = text[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
                let end = value.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? value.startIndex
                state.fields.append(CurlTransfer.text(text[..<colon]), CurlTransfer.text(value[..<end]))
            }
            return true
        }
    }

    /// The answer as it has come; `status` is the last one.
    func response(_ status: Int, from remote: HTTPRemote) -> HTTPResponse {
        state.withLock { state in
            var response = HTTPResponse(HTTPStatus(rawValue: status), fields: state.fields, body: state.body)
            response.remote = remote
            return response
        }
    }

    /// Each byte is a scalar, as in ``HTTPFields``.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
        return text
    }
}
