import Encoding

/// A path's segments as bytes, percent-decoded one by one, so that an encoded `/` stays inside its segment.
///
/// Strict, because a proxy in front may read a crooked path otherwise: `%` needs two digits, what is decoded must be
/// UTF-8 without control characters, and `.` and `..` are refused. RFC 3986 § 2.1, § 3.3.
enum PathSegments {
    /// `nil` for a path that is not `/` and more, or breaks a rule above.
    static func decode(_ path: String) -> [[UInt8]]? {
        let bytes = Array(path.utf8)
        guard bytes.first == UInt8(ascii: "/") else { return nil }
        var segments: [[UInt8]] = [[]]
        var position = 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "/") {
                segments.append([])
                guard segments.count <= Router.segmentsMax else { return nil }
            } else if byte == UInt8(ascii: "%") {
                guard position + 2 <= bytes.count, let high = Hexadecimal.value(of: bytes[position]),
                    let low = Hexadecimal.value(of: bytes[position + 1])
                else { return nil }
                position += 2
                segments[segments.count - 1].append(high << 4 | low)
            } else {
                segments[segments.count - 1].append(byte)
            }
        }
        return segments.allSatisfy(isClean) ? segments : nil
    }

    private static func isClean(_ segment: [UInt8]) -> Bool {
        let dot = UInt8(ascii: ".")
        return segment.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            && segment != [dot] && segment != [dot, dot]
            && String(validating: segment, as: UTF8.self) != nil
    }
}
