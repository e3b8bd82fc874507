public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Transport {
    /// The longest answer that is taken, in bytes. What a customer has is far shorter.
    static let answerBytesMax = 4 << 20
    /// How long nothing may come, and how long all of it may take, in seconds.
    private static let (silenceMax, answerMax): (Double, Double) = (30, 90)

    /// Over the network. It keeps no cookies, no cache and no passwords, and follows no redirect.
    ///
    /// - Parameter server: the server's address, such as `https://purchases.example.com`; a path in it stands before all
    ///   others.
    /// - Returns: a transport with connections of its own.
    public static func network(to server: URL) -> Transport {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = silenceMax
        configuration.timeoutIntervalForResource = answerMax
        let session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
        var base = server.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        return Transport { [base] request in
            guard let url = URL(string: base + request.target) else { throw URLError(.badURL) }
            var asked = URLRequest(url: url)
            asked.httpMethod = request.method
            for (name, value) in request.fields { asked.setValue(value, forHTTPHeaderField: name) }
            if !request.body.isEmpty { asked.httpBody = Data(request.body) }
            let (data, response) = try await session.data(for: asked)
            guard let response = response as? HTTPURLResponse, data.count <= answerBytesMax else {
                throw URLError(.badServerResponse)
            }
            var fields: [String: String] = [:]
            for case (let name as String, let value as String) in response.allHeaderFields { fields[name] = value }
            return Answer(status: response.statusCode, fields: fields, body: [UInt8](data))
        }
    }
}

/// A redirect is an answer like any other, and none that confirms anything: the request would take its key elsewhere.
private final class NoRedirects: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
