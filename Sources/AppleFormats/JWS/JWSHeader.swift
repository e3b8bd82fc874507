package import Encoding

/// The protected header of a signed text: how it is signed, and by which certificates.
///
/// App Store data has `alg` and `x5c` only; Xcode adds `kid` and `typ`. Source: RFC 7515 § 4.1.
package struct JWSHeader: Hashable, Sendable {
    /// Apple sends three, Xcode one.
    package static let certificatesMax = 8

    /// `ES256`.
    package let algorithm: String?
    /// DER of each certificate, leaf first; nil when the header has no `x5c`.
    package let certificates: [[UInt8]]?
    /// `Apple_Xcode_Key` from Xcode; the App Store sends none since 2022.
    package let keyID: String?
    package let type: String?
    /// The names of all other parameters, such as `crit`, `b64`, `jwk`: some of them change what a signature means, so a
    /// verifier that does not know them must refuse.
    package let otherParameters: [String]

    /// Reads the header's JSON; see ``CompactJWS/headerBytes()``.
    package init(_ bytes: [UInt8]) throws(FormatFault) {
        try self.init(JSONDocument.ofApple(bytes))
    }

    package init(_ document: JSONDocument) throws(FormatFault) {
        var algorithm: String?
        var certificates: [[UInt8]]?
        var keyID: String?
        var type: String?
        var others: [String] = []
        for (name, value) in try document.members().members {
            switch name {
            case "alg": algorithm = try value.text("alg")
            case "x5c": certificates = try Self.certificates(value)
            case "kid": keyID = try value.text("kid")
            case "typ": type = try value.text("typ")
            default: others.append(name)
            }
        }
        self.algorithm = algorithm
        self.certificates = certificates
        self.keyID = keyID
        self.type = type
        otherParameters = others
    }

    /// Standard base64 with padding, not base64url (RFC 7515 § 4.1.6).
    private static func certificates(_ value: JSONValue) throws(FormatFault) -> [[UInt8]] {
        guard let array = value.array else { throw .wrongType(field: "x5c") }
        guard array.count <= certificatesMax else { throw .invalidValue(field: "x5c") }
        var certificates: [[UInt8]] = []
        for element in array {
            guard let text = element.utf8 else { throw .wrongType(field: "x5c") }
            do throws(Base64Fault) {
                certificates.append(try Base64.decode(text, .standard, padding: .required))
            } catch {
                throw .invalidValue(field: "x5c")
            }
        }
        return certificates
    }
}
