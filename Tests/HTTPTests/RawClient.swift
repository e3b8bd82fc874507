import Glibc
import HTTP
import Synchronization

/// A socket that says exactly what it is told to say, and shows exactly what came back. It blocks: see ``blocking(_:)``.
final class RawClient: Sendable {
    enum End: Equatable {
        case closed
        case reset
        case timeout
    }

    struct ConnectFailure: Error {
        let errno: Int32
    }

    private let descriptor: Int32
    private let unread = Mutex<[UInt8]>([])
    private let isOpen = Mutex(true)

    /// A socket that is not connected yet.
    init(receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ConnectFailure(errno: errno) }
        set(IPPROTO_TCP, TCP_NODELAY, 1)
        if let receiveBuffer { set(Int(SOL_SOCKET), SO_RCVBUF, receiveBuffer) }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    convenience init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        try self.init(receiveBuffer: receiveBuffer)
        try connect(port: port)
    }

    /// A socket that somebody has connected already.
    init(connected descriptor: Int32) {
        self.descriptor = descriptor
        set(IPPROTO_TCP, TCP_NODELAY, 1)
    }

    deinit {
        close()
    }

    func connect(port: UInt16) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // The pointer stays inside the call.
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe Glibc.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw ConnectFailure(errno: errno) }
    }

    /// False when the other side does not take it all.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        guard isOpen.withLock({ $0 }) else { return false }
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor,
                    buffer.baseAddress?.advanced(by: sent),
                    bytes.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool {
        send(Array(text.utf8))
    }

    /// Everything until the other side ends, with a pause after each piece.
    func readToEnd(pausing milliseconds: UInt32 = 0) -> (bytes: [UInt8], end: End) {
        while true {
            if milliseconds > 0 { pause(milliseconds: milliseconds) }
            if let end = readMore() { return (unread.withLock { $0 }, end) }
        }
    }

    /// The next answer; `nil` when the connection ends or nothing comes before it is whole.
    func response(toHead: Bool = false) -> RawResponse? {
        while true {
            let found = unread.withLock { unread -> RawResponse? in
                guard let (response, count) = RawResponse.first(in: unread, toHead: toHead) else { return nil }
                unread.removeFirst(count)
                return response
            }
            if let found { return found }
            if readMore() != nil { return nil }
        }
    }

    /// Everything up to the first empty line; `nil` when the other side ends before.
    func readHead() -> String? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            let bytes = unread.withLock { $0 }
            if let place = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) {
                unread.withLock { $0.removeFirst(place + end.count) }
                return String(decoding: bytes[..<place], as: UTF8.self)
            }
            if readMore() != nil { return nil }
        }
    }

    /// The next chunk of a body, empty for its end; `nil` when the connection ends before.
    func chunk() -> [UInt8]? {
        while true {
            let found = unread.withLock { unread -> [UInt8]? in
                guard let end = unread.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                let size = String(decoding: unread[..<end].dropLast(), as: UTF8.self)
                guard let count = Int(size, radix: 16), unread.count >= end + 1 + count + 2 else { return nil }
                defer { unread.removeFirst(end + 1 + count + 2) }
                return Array(unread[end + 1..<end + 1 + count])
            }
            if let found { return found }
            if readMore() != nil { return nil }
        }
    }

    /// The next answer that is not an interim one.
    func finalResponse() -> RawResponse? {
        let first = response()
        return first?.status == 100 ? response() : first
    }

    /// Whether something, or the end, can be read without waiting.
    var hasInput: Bool {
        guard isOpen.withLock({ $0 }) else { return true }
        var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&look, 1, 0) == 1
    }

    /// Ends the sending side only.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { _ = Glibc.close(descriptor) }
    }

    /// Closes with RST, as a crashed or impatient client does.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    private func readMore() -> End? {
        // The number of a closed descriptor may be somebody else's by now.
        guard isOpen.withLock({ $0 }) else { return .closed }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        }
        if count == 0 { return .closed }
        if count < 0 { return errno == ECONNRESET ? .reset : .timeout }
        unread.withLock { $0.append(contentsOf: buffer.prefix(count)) }
        return nil
    }

    private func set(_ level: Int, _ option: Int32, _ value: Int32) {
        var value = value
        unsafe setsockopt(descriptor, Int32(level), option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
