/// The lines of `text/event-stream`.
///
/// Source: WHATWG HTML, § 9.2 *Server-sent events*.
enum ServerSentEvents {
    /// How long a client is asked to wait before it comes again. Without the empty line that would end an event: there
    /// are clients that take that for one without data.
    static let greeting = Array("retry: 3000\n".utf8)
    /// A comment, which keeps proxies from closing what is silent; again without an empty line.
    static let heartbeat = Array(":\n".utf8)

    /// From where a client that comes again goes on. By the empty line it takes the id, and for want of data makes no event.
    static func place(_ id: String) -> [UInt8] { Array("id: \(id)\n\n".utf8) }

    static func append(id: String, event: String, data: [UInt8], to text: inout [UInt8]) {
        appendField("id", id.utf8, to: &text)
        appendField("event", event.utf8, to: &text)
        appendField("data", data, to: &text)
        text.append(UInt8(ascii: "\n"))
    }

    /// Whatever is in a value, it cannot end its line: behind each end of a line in it the field begins again, which for
    /// `data` gives the reader the same lines.
    private static func appendField(_ name: StaticString, _ value: some Sequence<UInt8>, to text: inout [UInt8]) {
        func begin() {
            text.append(contentsOf: name.description.utf8)
            text.append(contentsOf: ": ".utf8)
        }
        begin()
        var isAfterReturn = false
        for byte in value {
            switch byte {
            case UInt8(ascii: "\n") where isAfterReturn:
                isAfterReturn = false
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                isAfterReturn = byte == UInt8(ascii: "\r")
                text.append(UInt8(ascii: "\n"))
                begin()
            default:
                isAfterReturn = false
                text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\n"))
    }
}
