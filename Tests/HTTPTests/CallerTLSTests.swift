import Foundation
import HTTP
import TestSupport
import Testing

/// A server with a certificate of its own authority; another program's TLS.
@Suite struct CallerTLSTests {
    /// Python's HTTPS server, for as long as it is held.
    private final class SecureServer {
        let port: UInt16
        let certificate: String
        let key: String
        private let tool: OpenSSLTool
        private let process: ChildProcess.Running

        init(subject: String) throws {
            tool = try OpenSSLTool()
            certificate = tool.path("certificate.pem")
            key = tool.path("key.pem")
            let made = try tool.run([
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=test", "-addext", "subjectAltName=\(subject)", "-keyout", key, "-out", certificate,
            ])
            try #require(made.isSuccess, "\(made.text)")
            let script = """
                import http.server, ssl, sys
                class Answer(http.server.BaseHTTPRequestHandler):
                    def do_GET(self):
                        self.send_response(200)
                        self.send_header("Content-Length", "6")
                        self.end_headers()
                        self.wfile.write(b"secure")
                server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(sys.argv[1], sys.argv[2])
                server.socket = context.wrap_socket(server.socket, server_side=True)
                print(server.server_port, flush=True)
                server.serve_forever()
                """
            var server = ChildProcess(["/usr/bin/env", "python3", "-c", script, certificate, key])
            server.output = .pipe
            process = try server.start()
            let line = String(decoding: process.output?.availableData ?? Data(), as: UTF8.self)
            port = try #require(UInt16(line.prefix { $0.isNumber }))
        }

        deinit {
            process.terminate()
            tool.remove()
        }
    }

    @Test func aStrangersCertificateIsRefusedUntilItsAuthorityIsAdded() async throws {
        let server = try SecureServer(subject: "IP:127.0.0.1")
        let call = HTTPCall(url: "https://127.0.0.1:\(server.port)/")
        await #expect(throws: HTTPCallFailure.tls) { try await CurlCaller().send(call) }
        var settings = CallerSettings()
        settings.authoritiesFile = server.certificate
        let answer = try await CurlCaller(settings).send(call)
        #expect(answer.body == Array("secure".utf8))
    }

    /// What goes through the tunnel is between us and the server: the proxy has the name of its host, and no more.
    @Test(arguments: [false, true]) func callsGoThroughAProxysTunnel(isSecure: Bool) async throws {
        let server = try SecureServer(subject: "IP:127.0.0.1")
        let folder = URL(filePath: server.certificate).deletingLastPathComponent().path
        let proxy = try ConnectProxy(
            in: folder,
            credentials: "assay:sword@fish",
            certificate: isSecure ? (server.certificate, server.key) : nil
        )
        let scheme = isSecure ? "https" : "http"
        var settings = CallerSettings()
        settings.authoritiesFile = server.certificate
        settings.proxy = "\(scheme)://assay:sword%40fish@127.0.0.1:\(proxy.port)"
        let call = HTTPCall(url: "https://127.0.0.1:\(server.port)/")
        #expect(try await CurlCaller(settings).send(call).body == Array("secure".utf8))
        settings.proxy = "\(scheme)://assay:shark@127.0.0.1:\(proxy.port)"
        let stranger = CurlCaller(settings)
        await #expect(throws: HTTPCallFailure.proxy) { try await stranger.send(call) }
        #expect(Set(proxy.seen) == ["CONNECT 127.0.0.1:\(server.port) HTTP/1.1"])
        settings.proxy = "\(scheme)://127.0.0.1:1"
        let lost = CurlCaller(settings)
        await #expect(throws: HTTPCallFailure.proxy) { try await lost.send(call) }
    }

    @Test func aCertificateForAnotherNameIsRefused() async throws {
        let server = try SecureServer(subject: "DNS:shop.example")
        var settings = CallerSettings()
        settings.authoritiesFile = server.certificate
        let caller = CurlCaller(settings)
        await #expect(throws: HTTPCallFailure.tls) {
            try await caller.send(HTTPCall(url: "https://127.0.0.1:\(server.port)/"))
        }
    }

    @Test func aServerWithoutTLSIsNotSpokenTo() async throws {
        let server = try RawServer { client in
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            _ = client.readToEnd()
        }
        await #expect(throws: HTTPCallFailure.tls) {
            try await CurlCaller().send(HTTPCall(url: "https://127.0.0.1:\(server.port)/"))
        }
    }
}
