import HTTP

/// An answer as it came over the wire.
struct RawResponse: Equatable, Sendable {
    let status: Int
    let fields: HTTPFields
    let body: [UInt8]

    var text: String {
        String(decoding: body, as: UTF8.self)
    }

    /// The first answer and its length in bytes; `nil` when it is not whole, or is none.
    static func first(in bytes: [UInt8], toHead: Bool = false) -> (response: RawResponse, count: Int)? {
        let end = Array("\r\n\r\n".utf8)
        guard let headEnd = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return nil }
        let lines = bytes[..<headEnd].split(separator: UInt8(ascii: "\n")).map { line in
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
        guard let first = lines.first, first.hasPrefix("HTTP/1.1 "),
            let status = Int(first.dropFirst(9).prefix(3))
        else { return nil }
        var fields: HTTPFields = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            fields.append(String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
        let hasBody = !toHead && status >= 200 && status != 204 && status != 304
        let length = hasBody ? Int(fields["Content-Length"] ?? "") ?? 0 : 0
        let start = headEnd + end.count
        guard bytes.count >= start + length else { return nil }
        return (RawResponse(status: status, fields: fields, body: Array(bytes[start..<start + length])), start + length)
    }

    /// All answers in the bytes; what follows the last whole one is dropped.
    static func all(in bytes: [UInt8]) -> [RawResponse] {
        var rest = bytes
        var responses: [RawResponse] = []
        while let (response, count) = first(in: rest) {
            responses.append(response)
            rest.removeFirst(count)
        }
        return responses
    }
}
