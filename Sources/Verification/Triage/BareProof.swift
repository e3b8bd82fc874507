/// A proof without the request to verifyReceipt that it came in, where the app's shared secret stands beside it as `password`.
package enum BareProof {
    /// What is verified and kept of a submission, so that such a body and the receipt in it are one proof.
    ///
    /// - Parameter bytes: in any format and wrapping.
    /// - Returns: of such a body, whatever it was wrapped in, what stands in its `receipt-data`; anything else as it came.
    package static func of(_ bytes: [UInt8]) -> [UInt8] {
        guard mayBeBody(bytes) else { return bytes }
        var triage = Triage()
        _ = try? triage.open(bytes)
        return triage.receiptData ?? bytes
    }

    /// Nearly everything is seen at its first bytes to be none: a JWS, and DER as it is or in base64.
    private static func mayBeBody(_ bytes: [UInt8]) -> Bool {
        if Triage.looksEncoded(bytes) || bytes.starts(with: beginOfBase64) { return false }
        return !(bytes.starts(with: Triage.beginOfJWS) && bytes.contains(UInt8(ascii: ".")))
    }

    /// Base64 of a SEQUENCE whose length is long or indefinite.
    private static let beginOfBase64 = Array("MI".utf8)

    /// Whether a member `password` is named in it, where it cannot be read: it may be broken, or cut off.
    ///
    /// - Parameter bytes: in any wrapping.
    /// - Returns: true where the secret may follow, whatever is around it.
    package static func namesPassword(_ bytes: [UInt8]) -> Bool {
        var unwrapping = Unwrapping()
        var layer = bytes
        while true {
            if names.contains(where: { holds(layer, $0) }) { return true }
            guard let inner = inner(of: layer, &unwrapping) else { return false }
            layer = inner
        }
    }

    private static func holds(_ text: [UInt8], _ name: [UInt8]) -> Bool {
        text.indices.contains { text[$0...].starts(with: name) }
    }

    /// One layer further in, also of what ends in the middle of a string or of an escape.
    private static func inner(of layer: [UInt8], _ unwrapping: inout Unwrapping) -> [UInt8]? {
        let whole = Triage.trimmed(layer)
        let unquoted = whole.first == UInt8(ascii: "\"") ? whole.dropFirst() : whole
        for text in [whole, unquoted] {
            for cut in 0...escapeMax {
                var further = unwrapping
                guard let inner = further.unwrapped(text.dropLast(cut)) else { continue }
                unwrapping = further
                return inner
            }
        }
        return nil
    }

    /// What is left at most of an escape that was cut off, in bytes: `\u002`.
    private static let escapeMax = 5

    /// As it stands in JSON, in JSON that stands in a string, and percent-encoded.
    private static let names = ["\"password\"", "\"password\\", "%22password%22"].map { Array($0.utf8) }
}
