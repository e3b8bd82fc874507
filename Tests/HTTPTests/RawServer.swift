import Dispatch
import Glibc

/// Does to each client exactly what its script says, one client after the other, on a thread of its own.
final class RawServer: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init(_ script: @escaping @Sendable (RawClient) -> Void) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // The pointers stay inside the calls.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard descriptor >= 0, isBound else { throw RawClient.ConnectFailure(errno: errno) }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        DispatchQueue(label: "raw server").async {
            while true {
                let accepted = accept(descriptor, nil, nil)
                guard accepted >= 0 else { return }
                let client = RawClient(connected: accepted)
                script(client)
                client.close()
            }
        }
    }

    deinit {
        // Ends the thread's accept.
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// A port at which nobody listens.
    static func closedPort() throws -> UInt16 {
        let server = try RawServer { _ in }
        return server.port
    }
}
