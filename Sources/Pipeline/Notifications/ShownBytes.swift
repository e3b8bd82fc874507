import Encoding
package import Storage
import Verification

/// What may be shown of bytes that were kept: in a notification of version 1 stands the app's shared secret, as `password`, and
/// so it does in the body of a request to verifyReceipt.
///
/// What is kept stays as it came: its name is the hash of these bytes.
package enum ShownBytes {
    /// The body of a notification.
    ///
    /// - Returns: of version 1 with an empty `password`, and otherwise as it came; `nil` if one of version 1 cannot be read.
    package static func of(_ notification: KeptNotification) -> [UInt8]? {
        notification.version == 1 ? withoutSecret(notification.payload) : notification.payload
    }

    /// The proof of a submission, which may be a notification of version 1 as well.
    ///
    /// - Returns: as for a notification; `nil` also for one of version 1 that came inside something else, such as base64.
    package static func of(_ submission: PendingSubmission) -> [UInt8]? {
        let bare = Self.proof(submission.proof)
        return submission.format == ProofFormat.notificationV1.rawValue ? withoutSecret(bare) : bare
    }

    /// Evidence.
    ///
    /// - Returns: of the body of a request to verifyReceipt, which is not kept any more, the receipt; else as it came.
    package static func proof(_ bytes: [UInt8]) -> [UInt8] { BareProof.of(bytes) }

    /// A sample of what was refused: of a long one the beginning is kept.
    ///
    /// - Returns: as of evidence, or of a notification; `nil` where it may be such a body, whatever it is wrapped in, and cannot
    ///   be read, as it is broken or only its beginning is there.
    package static func of(_ sample: RefusalSample) -> [UInt8]? {
        let shown = proof(sample.proof)
        // A receipt is what it is; but what stands in the place of one may be such a body again, and broken.
        guard shown == sample.proof else { return BareProof.namesPassword(shown) ? nil : shown }
        return withoutSecret(shown) ?? (BareProof.namesPassword(shown) ? nil : shown)
    }

    /// A name that is written with escapes is found as well, and no name stands there twice: the one door for JSON sees to it.
    private static func withoutSecret(_ bytes: [UInt8]) -> [UInt8]? {
        guard let object = (try? JSONDocument(bytes))?.root.object, object["notification_type"] != nil else {
            return nil
        }
        guard let secret = object["password"] else { return bytes }
        let place = secret.offset..<secret.offset + secret.raw.count
        var shown = bytes
        shown.replaceSubrange(place, with: Array("\"\"".utf8))
        return shown
    }
}
