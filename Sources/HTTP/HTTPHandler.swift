/// What answers requests: the router, in a closure.
///
/// It is called in a task of its own, which is cancelled when the client leaves before the answer. It cannot fail:
/// whoever answers knows what to tell the client.
package struct HTTPHandler: Sendable {
    package var respond: @Sendable (HTTPRequest) async -> HTTPResponse

    package init(_ respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) {
        self.respond = respond
    }
}
