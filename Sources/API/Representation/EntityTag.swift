import Crypto
import Encoding
import HTTP

/// What a client has already it is not sent again. RFC 9110 §§ 8.8.3, 13.1.2, 15.4.5.
enum EntityTag {
    /// Half of a SHA-256 tells bodies apart.
    private static let bytesCount = 16

    /// Marks a good answer with its tag, and leaves out its body for who shows that tag.
    static func conditional(_ response: HTTPResponse, _ request: HTTPRequest) -> HTTPResponse {
        guard response.status == .ok else { return response }
        let tag = "\"" + Hexadecimal.encode(Array(Digest.sha256(response.body).prefix(bytesCount))) + "\""
        // Kept by the client alone, and asked about each time: what it may use can end at any moment.
        let fields: HTTPFields = ["ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization"]
        guard !matches(request.fields, tag) else { return HTTPResponse(.notModified, fields: fields) }
        var response = response
        for field in fields { response.fields[field.name] = field.value }
        return response
    }

    /// The weak comparison: `W/"x"` is `"x"`. Our tags have no comma in them.
    private static func matches(_ fields: HTTPFields, _ tag: String) -> Bool {
        fields.all("If-None-Match").contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains { part in
                var part = part.drop { $0 == 0x20 || $0 == 0x09 }
                while let last = part.last, last == 0x20 || last == 0x09 { part.removeLast() }
                if part.starts(with: "W/".utf8) { part = part.dropFirst(2) }
                return part.elementsEqual(tag.utf8) || part.elementsEqual("*".utf8)
            }
        }
    }
}
