import Crypto
import Encoding
package import HTTP

/// What one request is called, here and in the systems around: told in every answer, and in the log when it failed.
package struct RequestName: Sendable, Equatable {
    static let field = "X-Request-Id"
    private static let bytesMax = 128

    /// The client's, if it gave one, or one of ours.
    package let request: String
    /// The 32 digits of W3C's `traceparent`; `nil` without one that is as it should be.
    package let trace: String?

    init(_ fields: HTTPFields) {
        let given = fields.single(Self.field).flatMap { Self.isName($0) ? $0 : nil }
        request = given ?? "req_" + Hexadecimal.encode(SecureRandom.bytes(12))
        trace = fields.single("traceparent").flatMap(Self.trace)
    }

    /// What may stand in a log line and in a field: nothing that could end either.
    private static func isName(_ text: String) -> Bool {
        (1...bytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// `00-TRACE-PARENT-FLAGS`, in lower case; what a later version puts behind it is let stand. W3C Trace Context § 3.2.
    private static func trace(_ text: String) -> String? {
        guard text.utf8.count <= 256 else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count >= 4, parts.prefix(4).map(\.count) == [2, 32, 16, 2],
            parts.prefix(4).allSatisfy({ $0.allSatisfy(isDigit) }), !parts[0].elementsEqual("ff".utf8),
            parts.count == 4 || !parts[0].elementsEqual("00".utf8),
            parts[1].contains(where: { $0 != 0x30 }), parts[2].contains(where: { $0 != 0x30 })
        else { return nil }
        return String(decoding: Array(parts[1]), as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}

/// An answer that says that the fault is ours, for whoever reads the log.
package struct FailedRequest: Sendable, Equatable {
    package let name: RequestName
    package let method: HTTPMethod
    /// The route's template: what stands in a path may be a customer.
    package let template: String
    package let status: HTTPStatus
}
