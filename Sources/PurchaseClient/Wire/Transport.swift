/// Sends one request to the server. Live: URLSession. In a test: a closure, often the server's own router.
public struct Transport: Sendable {
    /// What is asked.
    public struct Request: Hashable, Sendable {
        /// `GET` or `POST`.
        public let method: String
        /// With the query, if there is one; begins with a slash.
        public let target: String
        /// Header fields.
        public let fields: [String: String]
        /// JSON; empty for a GET.
        public let body: [UInt8]

        package init(method: String, target: String, fields: [String: String], body: [UInt8]) {
            self.method = method
            self.target = target
            self.fields = fields
            self.body = body
        }
    }

    /// What was answered.
    public struct Answer: Hashable, Sendable {
        /// The status code of HTTP.
        public let status: Int
        /// Header fields, their names in lower case.
        public let fields: [String: String]
        /// As it came.
        public let body: [UInt8]

        /// An answer; the fields' names may be in any case.
        public init(status: Int, fields: [String: String], body: [UInt8]) {
            self.status = status
            self.fields = Dictionary(fields.map { ($0.lowercased(), $1) }, uniquingKeysWith: { first, _ in first })
            self.body = body
        }
    }

    /// Throws whatever it likes when no answer came. It must not follow a redirect: the request carries a key.
    public let send: @Sendable (Request) async throws -> Answer

    /// A transport that is this closure.
    public init(send: @escaping @Sendable (Request) async throws -> Answer) { self.send = send }
}
