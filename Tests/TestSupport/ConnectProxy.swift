import Foundation

/// A proxy that answers `CONNECT`, a program of its own for as long as it is held: with a tunnel, to wherever it is asked, or
/// with a refusal.
package final class ConnectProxy: Sendable {
    package let port: UInt16
    private let process: ChildProcess.Running
    private let log: String

    /// - Parameters:
    ///   - folder: where it keeps its log.
    ///   - credentials: `user:password` that it wants to be told; nil lets everybody through.
    ///   - status: what it answers instead of a tunnel, such as 403; nil opens it.
    ///   - certificate: with the key's file, what makes it a proxy that speaks TLS.
    /// - Throws: what starting a program throws, and a fault of the file system.
    package init(
        in folder: String,
        credentials: String? = nil,
        refusing status: Int? = nil,
        certificate: (file: String, key: String)? = nil
    ) throws {
        log = folder + "/connect-\(UUID().uuidString).log"
        let words = [
            log, credentials.map { Data($0.utf8).base64EncodedString() } ?? "", status.map(String.init) ?? "",
            certificate?.file ?? "", certificate?.key ?? "",
        ]
        var program = ChildProcess(["/usr/bin/env", "python3", "-c", Self.script] + words)
        program.output = .pipe
        process = try program.start()
        let line = String(decoding: process.output?.availableData ?? Data(), as: UTF8.self)
        guard let port = UInt16(line.prefix { $0.isNumber }) else { throw CocoaError(.fileReadUnknown) }
        self.port = port
    }

    deinit {
        process.terminate()
    }

    /// The first line of each request so far.
    package var seen: [String] {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    private static let script = """
        import socket, ssl, sys, threading
        log, credentials, status, certificate, key = sys.argv[1:]
        listening = socket.create_server(("127.0.0.1", 0))
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
        def pump(source, target):
            try:
                while data := source.recv(65536): target.sendall(data)
            except OSError: pass
            for end in (source, target):
                try: end.shutdown(socket.SHUT_RDWR)
                except OSError: pass
        def serve(client):
            try:
                if certificate: client = context.wrap_socket(client, server_side=True)
                head = b""
                while b"\\r\\n\\r\\n" not in head:
                    data = client.recv(1)
                    if not data: return
                    head += data
                line, *fields = head.decode().split("\\r\\n")
                with open(log, "a") as file: file.write(line + "\\n")
                method, place, _ = line.split(" ")
                wanted = "proxy-authorization: basic " + credentials
                refusal = status
                if credentials and wanted.lower() not in [field.lower() for field in fields]: refusal = "407"
                if method != "CONNECT": refusal = "405"
                if refusal:
                    client.sendall(f"HTTP/1.1 {refusal} No\\r\\nContent-Length: 0\\r\\n\\r\\n".encode())
                    client.close()
                    return
                host, port = place.rsplit(":", 1)
                target = socket.create_connection((host, int(port)))
                client.sendall(b"HTTP/1.1 200 Connection established\\r\\n\\r\\n")
                threading.Thread(target=pump, args=(target, client), daemon=True).start()
                pump(client, target)
            except OSError: client.close()
        print(listening.getsockname()[1], flush=True)
        while True: threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()
        """
}
