import CCurl
import Glibc

/// The owner of libcurl's multi handle: connections, and the calls that are under way on them.
///
/// Every verb but ``wake()`` belongs to the loop's thread; libcurl promises that waking is safe from any other.
@safe
final class CurlMulti: Sendable {
    private let handle: assay_curl_multi

    /// Once in a process. libcurl's own lock makes a second call elsewhere harmless.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    init(_ settings: CallerSettings) {
        precondition(CurlMulti.isReady, "libcurl can be started")
        guard let multi = unsafe curl_multi_init() else { preconditionFailure("no memory for libcurl") }
        unsafe handle = unsafe assay_curl_multi(multi: multi)
        let options = [
            (CURLMOPT_MAX_TOTAL_CONNECTIONS, settings.connectionsMax),
            (CURLMOPT_MAX_HOST_CONNECTIONS, settings.connectionsToHostMax),
            (CURLMOPT_MAXCONNECTS, settings.connectionsMax),
        ]
        for (option, value) in options { unsafe assay_curl_multi_set_long(handle.multi, option, value) }
    }

    deinit {
        // Whoever uses the handle holds its owner, and calls under way were taken out by the loop.
        unsafe curl_multi_cleanup(handle.multi)
    }

    /// Makes the thread deaf to SIGPIPE, which OpenSSL raises in it when the other side has left.
    static func ignorePipes() {
        var signals = sigset_t()
        // Both pointers are read before the calls return.
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    func wake() {
        unsafe curl_multi_wakeup(handle.multi)
    }

    /// Waits for something to do: the network, a time limit of libcurl's, or ``wake()``.
    func wait() {
        unsafe curl_multi_poll(handle.multi, nil, 0, 60_000, nil)
    }

    func add(_ easy: CurlEasy) -> Bool {
        unsafe curl_multi_add_handle(handle.multi, easy.handle) == CURLM_OK
    }

    func remove(_ easy: CurlEasy) {
        unsafe curl_multi_remove_handle(handle.multi, easy.handle)
    }

    /// Does what can be done without waiting; gives the calls that ended.
    func perform(_ underway: [ObjectIdentifier: CurlEasy]) -> [(CurlEasy, CurlTransfer.Answer)] {
        var count: Int32 = 0
        unsafe curl_multi_perform(handle.multi, &count)
        var ended: [(CurlEasy, CurlTransfer.Answer)] = []
        while let message = unsafe curl_multi_info_read(handle.multi, &count) {
            var finished: UnsafeMutableRawPointer?
            // The message lives until the next call on the handle; the code is copied out of it here.
            let code = unsafe assay_curl_result(message, &finished)
            guard let finished = unsafe finished, let key = unsafe CurlEasy.key(of: finished),
                let easy = underway[key]
            else { continue }
            ended.append((easy, easy.answer(code)))
        }
        return ended
    }
}
