import HTTP
import Synchronization

extension WorkHouse {
    /// What Apple answers to what, while it is set.
    final class Script: Sendable {
        private let state = Mutex((path: "", answer: HTTPResponse?.none, spared: 0))
        private let spoiled = Mutex(String?.none)
        private let isSilent = Mutex(false)
        private let (asked, asking) = AsyncStream.makeStream(of: Void.self)

        /// So many calls are answered as ever before.
        func set(_ path: String, _ answer: HTTPResponse?, after spared: Int = 0) {
            state.withLock { $0 = (path, answer, spared) }
        }

        /// No signature in answers from there holds any more; `nil` leaves all as they are.
        func spoil(_ path: String?) { spoiled.withLock { $0 = path } }

        /// Every call waits until it is cut off.
        func fallSilent() { isSilent.withLock { $0 = true } }

        /// Returns once so many wait.
        func untilAsked(_ calls: Int) async {
            var left = calls
            for await _ in asked {
                left -= 1
                if left == 0 { break }
            }
        }

        func keepSilence() async throws(HTTPCallFailure) {
            guard isSilent.withLock(\.self) else { return }
            asking.yield()
            // Nobody says anything; it ends with the task.
            let (silence, voice) = AsyncStream.makeStream(of: Void.self)
            for await _ in silence {}
            voice.finish()
            throw .cancelled
        }

        /// The answer, or what has become of it.
        func passed(_ answer: HTTPResponse, to call: HTTPCall) -> HTTPResponse {
            guard let path = spoiled.withLock(\.self), call.url.contains(path) else { return answer }
            let text = String(decoding: answer.body, as: UTF8.self)
            var passed = answer
            // Both tokens begin the header's base64 of `{"`.
            passed.body = Array(text.replacing("\"eyJ", with: "\"eyK").utf8)
            return passed
        }

        func answer(_ call: HTTPCall) -> HTTPResponse? {
            state.withLock { state in
                guard call.url.contains(state.path) else { return nil }
                state.spared -= 1
                return state.spared < 0 ? state.answer : nil
            }
        }
    }
}
