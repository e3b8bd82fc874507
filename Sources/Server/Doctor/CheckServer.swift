import Encoding
import HTTP

/// The server itself: whether it answers where it should, and what it may open.
struct CheckServer {
    /// Beside connections: webhooks, calls to Apple, the ledger's files.
    private static let others = 512

    let listen: ListenAddress
    let connections: Int
    let caller: HTTPCaller

    func findings() async -> [Finding] {
        let base = "http://\(Self.nearest(listen))"
        do throws(HTTPCallFailure) {
            let ready = try await caller.send(HTTPCall(url: base + "/readyz", timeout: .seconds(5)))
            let limit = await limit(base)
            return [Self.readiness(ready, base), Self.files(limit, connections)]
        } catch {
            return [
                .warn(
                    "server",
                    "\(base): \(error.sentence)",
                    cause: "No server runs here, or it listens elsewhere than this configuration says.",
                    fix: "assay serve, or systemctl start assay"
                ), Self.files(ProcessFigures.openFilesMax(), connections),
            ]
        }
    }

    static func readiness(_ response: HTTPResponse, _ base: String) -> Finding {
        let json = try? JSONDocument(response.body).root.object
        if response.status == .ok, json?["status"]?.string == "ready" { return .ok("server", "\(base) is ready") }
        guard response.status == .serviceUnavailable, let code = json?["code"]?.string else {
            return .fail(
                "server",
                "what answers at \(base) is no Assay (HTTP \(response.status.rawValue))",
                fix: "have it listen elsewhere, or end the other program"
            )
        }
        return .fail(
            "server",
            "\(base) takes no purchases: \(code)",
            fix: code == "storage_full"
                ? "make room on the ledger's disk; it takes them again by itself"
                : "its log says why; after a fault of the disk it takes none until it is started again"
        )
    }

    static func files(_ limit: Int?, _ connections: Int) -> Finding {
        guard let limit else { return .ok("limits", "as many open files as the system has") }
        let wanted = connections + others
        guard limit < wanted else { return .ok("limits", "\(limit) open files") }
        return .warn(
            "limits",
            "\(limit) open files, and limits.connections is \(connections)",
            cause: "At the limit new connections are refused, Apple's among them.",
            fix: "LimitNOFILE=\(wanted) in the systemd unit, or ulimit -n \(wanted)"
        )
    }

    /// What the running server says of itself.
    private func limit(_ base: String) async -> Int? {
        let response = try? await caller.send(HTTPCall(url: base + "/metrics", timeout: .seconds(5)))
        let name = Array("process_max_fds ".utf8)
        let line = response?.body.split(separator: 0x0A).first { $0.starts(with: name) }
        return line.flatMap { Int(String(decoding: $0.dropFirst(name.count), as: UTF8.self)) }
    }

    /// From here: who listens everywhere listens here.
    private static func nearest(_ listen: ListenAddress) -> ListenAddress {
        switch listen.address {
        case "0.0.0.0": ListenAddress(address: "127.0.0.1", port: listen.port)
        case "::": ListenAddress(address: "::1", port: listen.port)
        default: listen
        }
    }
}
