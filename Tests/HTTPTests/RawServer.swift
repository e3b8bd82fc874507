import Dispatch
import Glibc
import Synchronization

/// Does to each client exactly what its script says, one client after the other, on a thread of its own.
final class RawServer: Sendable {
    /// The thread closes the descriptor, so that it never accepts on a number that has become somebody else's.
    private final class Door: Sendable {
        let descriptor: Int32
        private let isShut = Mutex(false)

        init(_ descriptor: Int32) {
            self.descriptor = descriptor
        }

        /// Ends the thread's accept.
        func shut() {
            isShut.withLock { isShut in
                isShut = true
                shutdown(descriptor, Int32(SHUT_RDWR))
            }
        }

        func closesNow() -> Bool {
            isShut.withLock { isShut in
                if isShut { close(descriptor) }
                return isShut
            }
        }
    }

    let port: UInt16
    private let door: Door

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
        let door = Door(descriptor)
        self.door = door
        port = UInt16(bigEndian: address.sin_port)
        DispatchQueue(label: "raw server").async {
            while !door.closesNow() {
                let accepted = accept(door.descriptor, nil, nil)
                guard accepted >= 0 else { continue }
                let client = RawClient(connected: accepted)
                script(client)
                client.close()
            }
        }
    }

    deinit {
        door.shut()
    }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// A port at which nobody listens.
    static func closedPort() throws -> UInt16 {
        let server = try RawServer { _ in }
        return server.port
    }
}
