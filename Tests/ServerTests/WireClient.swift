import Encoding
import Glibc

/// One connection to a server, kept open from request to request. Its calls block: see ``Threads``.
final class WireClient {
    struct Answer: Sendable {
        let status: Int
        /// The names in lower case.
        let fields: [String: String]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: JSONObject? { try? JSONDocument(body).root.object }
        var result: String? { json?["result"]?.string }
        var code: String? { json?["code"]?.string }
        /// The last answer on its connection.
        var isLast: Bool { fields["connection"] == "close" }

        /// A member of the first transaction.
        func first(_ member: String) -> String? {
            json?["transactions"]?.array?.first { _ in true }?.object?[member]?.string
        }

        /// The bytes of the transactions.
        var transactions: [UInt8] { (json?["transactions"]?.raw).map(Array.init) ?? [] }
    }

    private let descriptor: Int32
    private var unread: [UInt8] = []

    /// - Returns: `nil` when nobody listens there.
    init?(port: UInt16) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 25, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // The pointer stays inside the call.
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { return nil }
    }

    deinit { close(descriptor) }

    func post(_ body: [UInt8], to path: String = "/v1/purchases", key: String = ServerFolder.key) -> Answer? {
        request("POST", path, key: key, body: body)
    }

    func get(_ path: String, key: String? = ServerFolder.key) -> Answer? {
        request("GET", path, key: key, body: nil)
    }

    /// - Returns: `nil` when the connection ends before the answer is whole.
    private func request(_ method: String, _ path: String, key: String?, body: [UInt8]?) -> Answer? {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
        if let key { head += "Authorization: Bearer \(key)\r\n" }
        if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        guard send(Array((head + "\r\n").utf8) + (body ?? [])) else { return nil }
        return answer()
    }

    /// Says exactly this, and hears the next answer.
    func say(_ text: String) -> Answer? {
        send(Array(text.utf8)) ? answer() : nil
    }

    /// Begins to follow the events; what comes is for ``hears(_:)``.
    func follow() -> Bool {
        let fields = "Authorization: Bearer \(ServerFolder.key)\r\nAccept: text/event-stream\r\n"
        return send(Array("GET /v1/events HTTP/1.0\r\n\(fields)\r\n".utf8)) && hears("retry:")
    }

    /// Whether a text comes before the first silence that the server breaks.
    func hears(_ text: String) -> Bool {
        while true {
            if let place = unread.indices.first(where: { unread[$0...].starts(with: text.utf8) }) {
                unread.removeFirst(place + text.utf8.count)
                return true
            }
            if unread.suffix(3).elementsEqual("\n:\n".utf8) || !receive() { return false }
        }
    }

    private func send(_ bytes: [UInt8]) -> Bool {
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

    private func answer() -> Answer? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let head = (0..<max(0, unread.count - 3)).first(where: { unread[$0...].starts(with: end) }) {
                let lines = String(decoding: unread[..<head], as: UTF8.self).split(separator: "\r\n")
                var fields: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    guard parts.count == 2 else { return nil }
                    fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
                }
                let length = Int(fields["content-length"] ?? "") ?? 0
                if unread.count >= head + 4 + length {
                    let body = Array(unread[(head + 4)..<(head + 4 + length)])
                    unread.removeFirst(head + 4 + length)
                    return Answer(
                        status: (lines.first?.split(separator: " ").dropFirst().first).flatMap { Int($0) } ?? 0,
                        fields: fields,
                        body: body
                    )
                }
            }
            guard receive() else { return nil }
        }
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        }
        guard count > 0 else { return false }
        unread.append(contentsOf: buffer.prefix(count))
        return true
    }
}
