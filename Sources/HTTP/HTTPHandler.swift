/// What answers requests: the router, or one that wraps another.
///
/// It is called in a task of its own, which is cancelled when the client leaves before the answer. It cannot fail:
/// whoever answers knows what to tell the client.
package struct HTTPHandler: Sendable {
    package var respond: @Sendable (HTTPRequest) async -> HTTPResponse

    package init(_ respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) {
        self.respond = respond
    }

    /// A handler that may change the request before this one sees it and the answer after, or answer by itself.
    package func wrapped(
        by wrapper: @escaping @Sendable (HTTPRequest, HTTPHandler) async -> HTTPResponse
    ) -> HTTPHandler {
        HTTPHandler { request in await wrapper(request, self) }
    }
}
