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
}
