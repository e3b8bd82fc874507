import Glibc

/// Keeps a number of connections busy from one thread: each sends its next request as soon as it has its answer.
///
/// That is a closed loop: it shows what a server costs and carries, not how long users wait when more of them come.
struct LoadGenerator {
    static let livez = Array("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    let port: UInt16

    struct Result {
        var requests = 0
        var seconds = 0.0
        /// In milliseconds.
        var median = 0.0
        var percentile99 = 0.0
        /// Answers that were none of what was wanted.
        var failures = 0
        /// The first of them, whole.
        var firstFailure = ""
    }

    /// Sends so many requests; `compose` appends the bytes of one, by its number from 0.
    func run(
        connections: Int,
        requests: Int,
        wanted: Set<Int> = [200],
        compose: (Int, inout [UInt8]) -> Void
    ) throws -> Result {
        var open: [LoadConnection] = []
        defer { for connection in open { close(connection.socket) } }
        for _ in 0..<min(connections, requests) { open.append(try LoadConnection(port: port)) }

        var result = Result()
        var sent = 0
        var times: [UInt64] = []
        times.reserveCapacity(requests)
        let began = CPUTime.elapsed
        for index in open.indices {
            try open[index].send { compose(sent, &$0) }
            sent += 1
        }
        var polled = open.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
        while times.count < requests {
            let count = unsafe poll(&polled, nfds_t(polled.count), 10_000)
            guard count > 0 else { throw BenchmarkFailure("no answer for ten seconds") }
            for index in open.indices where polled[index].revents != 0 {
                guard let status = try open[index].receive() else { continue }
                times.append(CPUTime.elapsed - open[index].began)
                if !wanted.contains(status) {
                    if result.failures == 0 { result.firstFailure = open[index].text }
                    result.failures += 1
                }
                guard sent < requests else { continue }
                try open[index].send { compose(sent, &$0) }
                sent += 1
            }
        }
        result.seconds = Double(CPUTime.elapsed - began) / 1e9
        times.sort()
        result.requests = times.count
        result.median = Double(times[times.count / 2]) / 1e6
        result.percentile99 = Double(times[times.count * 99 / 100]) / 1e6
        return result
    }
}

/// One connection of the load generator: one request out, one answer in.
struct LoadConnection {
    let socket: Int32
    private(set) var began: UInt64 = 0
    private var request: [UInt8] = []
    private var answer = [UInt8](repeating: 0, count: 65_536)
    private var received = 0

    init(port: UInt16) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw BenchmarkFailure("no socket") }
        var one: Int32 = 1
        unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(socket, $0, size) }
        }
        guard isConnected == 0 else {
            close(socket)
            throw BenchmarkFailure("nobody listens on port \(port)")
        }
    }

    /// Sends a whole request; the kernel has room for it, since the last one was answered.
    mutating func send(_ compose: (inout [UInt8]) -> Void) throws {
        request.removeAll(keepingCapacity: true)
        compose(&request)
        received = 0
        began = CPUTime.elapsed
        let count = unsafe Glibc.send(socket, request, request.count, Int32(MSG_NOSIGNAL))
        guard count == request.count else { throw BenchmarkFailure("the server closed a connection") }
    }

    /// Takes what has come.
    ///
    /// - Returns: the status once the answer is whole.
    mutating func receive() throws -> Int? {
        // A receipt with many purchases has a long answer.
        if received == answer.count { answer += [UInt8](repeating: 0, count: answer.count) }
        let start = received
        let count = unsafe answer.withUnsafeMutableBytes { buffer in
            unsafe recv(socket, buffer.baseAddress?.advanced(by: start), buffer.count - start, 0)
        }
        guard count > 0 else { throw BenchmarkFailure("the server closed a connection") }
        received += count
        guard let body = endOfHead else { return nil }
        guard received >= body + contentLength(before: body) else { return nil }
        return answer[9..<12].reduce(0) { $0 * 10 + Int($1 &- 0x30) }
    }

    /// The answer so far.
    var text: String { String(decoding: answer.prefix(received), as: UTF8.self) }

    private var endOfHead: Int? {
        var at = 3
        while at < received {
            if answer[at] == 0x0A, answer[at - 1] == 0x0D, answer[at - 2] == 0x0A { return at + 1 }
            at += 1
        }
        return nil
    }

    private static let lengthField = Array("\ncontent-length:".utf8)

    private func contentLength(before end: Int) -> Int {
        var at = 0
        while at + LoadConnection.lengthField.count < end {
            let isField = LoadConnection.lengthField.indices.allSatisfy { offset in
                let byte = answer[at + offset]
                return ((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) == LoadConnection.lengthField[offset]
            }
            if isField {
                let digits = answer[(at + LoadConnection.lengthField.count)..<end].drop { $0 == 0x20 }
                return digits.prefix { (0x30...0x39).contains($0) }.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            }
            at += 1
        }
        return 0
    }
}
