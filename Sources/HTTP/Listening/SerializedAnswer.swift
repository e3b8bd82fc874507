/// An answer as the C listener takes it: the status line and the fields as bytes, the body beside them.
struct SerializedAnswer: Sendable {
    let status: Int32
    let head: [UInt8]
    let body: [UInt8]
    /// The handler says what time it is; otherwise the listener does.
    let hasDate: Bool
    /// The answer was not fit to be sent, and this is a 500 in its place.
    let isReplaced: Bool

    init(_ response: HTTPResponse) {
        if response == .hangUp {
            self.init(status: 0, head: [], body: [], hasDate: false, isReplaced: false)
        } else if SerializedAnswer.isSendable(response) {
            self.init(checked: response, isReplaced: false)
        } else {
            let problem = HTTPResponse.problem(
                .internalServerError,
                code: "internal_error",
                fields: ["Retry-After": "30"]
            )
            self.init(checked: problem, isReplaced: true)
        }
    }

    private init(status: Int32, head: [UInt8], body: [UInt8], hasDate: Bool, isReplaced: Bool) {
        self.status = status
        self.head = head
        self.body = body
        self.hasDate = hasDate
        self.isReplaced = isReplaced
    }

    private init(checked response: HTTPResponse, isReplaced: Bool) {
        var head = Array("HTTP/1.1 \(response.status) \(response.status.phrase)\r\n".utf8)
        for field in response.fields {
            head.append(contentsOf: field.name.utf8)
            head.append(contentsOf: ": ".utf8)
            head.append(contentsOf: field.value.utf8)
            head.append(contentsOf: "\r\n".utf8)
        }
        self.init(
            status: Int32(clamping: response.status.rawValue),
            head: head,
            body: response.body,
            hasDate: response.fields["Date"] != nil,
            isReplaced: isReplaced
        )
    }

    /// How a message is delimited and when its connection ends is the listener's to say: a second word on it, perhaps
    /// from a value that a client chose, could split the answer in two.
    private static func isSendable(_ response: HTTPResponse) -> Bool {
        (200...599).contains(response.status.rawValue)
            && (response.stream == nil || response.status != .noContent && response.status != .notModified)
            && response.fields.isSendable
            && response.fields.allSatisfy { field in
                !listenersFields.contains { HTTPFields.isSame($0, field.name) }
            }
    }

    private static let listenersFields = [
        "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Trailer", "Upgrade",
    ]
}
