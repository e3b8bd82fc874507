import Crypto
import Encoding
import HTTP

/// What a client has already it is not sent again. RFC 9110 §§ 8.8.3, 13.1.2, 15.4.5.
enum EntityTag {
    /// Half of a SHA-256 tells bodies apart.
    private static let bytesCount = 16

    /// An answer with its tag.
    struct Tagged: Sendable {
        let response: HTTPResponse
        private let tag: String
        private let marks: HTTPFields

        /// - Parameter response: a good one.
        init(_ response: HTTPResponse) {
            let bytes = Digest.sha256(response.body).prefix(EntityTag.bytesCount)
            tag = "\"" + Hexadecimal.encode(Array(bytes)) + "\""
            // Kept by the client alone, and asked about each time: what it may use can end at any moment.
            marks = ["ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization"]
            var response = response
            for field in marks { response.fields[field.name] = field.value }
            self.response = response
        }

        /// Without the body for who shows the tag.
        func answer(to request: HTTPRequest) -> HTTPResponse {
            EntityTag.matches(request.fields, tag) ? HTTPResponse(.notModified, fields: marks) : response
        }
    }

    /// Marks a good answer with its tag, and leaves out its body for who shows that tag.
    static func conditional(_ response: HTTPResponse, _ request: HTTPRequest) -> HTTPResponse {
        response.status == .ok ? Tagged(response).answer(to: request) : response
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
