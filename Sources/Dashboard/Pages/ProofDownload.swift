import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// The raw bytes of a proof, for an auditor who has them examined elsewhere. Who took them is in the audit log. Of a
/// notification of version 1, which proves nothing, and of a request to verifyReceipt the app's shared secret is left out.
///
/// A form, and no link: what is logged is done by nobody else's page.
struct ProofDownload: Sendable {
    private static let path: StaticString = "/proof"

    let parts: DashboardParts

    /// A button for the bytes; nothing for who may not have them, and where they are kept no more.
    @HTMLBuilder static func form(_ visit: Visit, _ key: TransactionKey, _ evidence: EvidenceRow) -> HTML {
        if visit.may(.operator), !evidence.proof.isEmpty {
            visit.form(Address(path), label: "Download the proof") {
                Form.hidden("app", key.app.text)
                Form.hidden("side", Side.name(key.realm))
                Form.hidden("id", key.id.description)
                Form.hidden("sha256", Hexadecimal.encode(evidence.digest.bytes))
            }
        }
    }

    /// The same for what waits to be decided.
    @HTMLBuilder static func form(_ visit: Visit, _ kept: KeptSubmission) -> HTML {
        if visit.may(.operator), let shown = ShownBytes.of(kept.submission), !shown.isEmpty {
            visit.form(Address(path), label: "Download the proof") {
                Form.hidden("submission", Hexadecimal.encode(kept.id.bytes))
            }
        }
    }

    private struct Found: Sendable {
        let proof: [UInt8]
        let digest: ProofDigest
        /// Whose proof it is, as the audit log says it.
        let subject: String
    }

    func send(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let fields = visit.fields
        let found = try await parts.store.write { write throws(StoreFailure) -> Found? in
            guard let found = try Self.find(fields, write), !found.proof.isEmpty else { return nil }
            let digest = Hexadecimal.encode(found.digest.bytes)
            try write.noteAdminAction(visit.action("proof_downloaded", of: found.subject, "SHA-256 \(digest)"))
            return found
        }
        guard let found else { return Notices.notFound("proof that is still kept", visit) }
        var answer = Page.fields("application/octet-stream")
        // Nothing in the name is what somebody sent.
        let name = "proof-\(Hexadecimal.encode(found.digest.bytes)).bin"
        answer["Content-Disposition"] = "attachment; filename=\"\(name)\""
        return HTTPResponse(.ok, fields: answer, body: found.proof)
    }

    private static func find(_ fields: FormFields, _ reader: any StoreReader) throws(StoreFailure) -> Found? {
        if let id = Hexadecimal.decode(fields["submission"]).flatMap({ SubmissionID($0) }) {
            guard let submission = try reader.submission(id)?.submission, let shown = ShownBytes.of(submission) else {
                return nil
            }
            let subject = "submission \(Hexadecimal.encode(id.bytes)) of \(submission.app.text)"
            return Found(proof: shown, digest: submission.digest, subject: subject)
        }
        guard let app = AppID(fields["app"]), let realm = Side.realm(fields["side"]),
            let id = TransactionID(fields["id"]), let wanted = Hexadecimal.decode(fields["sha256"])
        else { return nil }
        let key = TransactionKey(app: app, realm: realm, id: id)
        for evidence in [try reader.evidence(of: key), try reader.latestEvidence(of: key)] {
            guard let evidence, evidence.digest.bytes == wanted else { continue }
            let subject = "transaction \(id) of \(app.text), \(Side.name(realm))"
            return Found(proof: ShownBytes.proof(evidence.proof), digest: evidence.digest, subject: subject)
        }
        return nil
    }
}
