import Pipeline
import Encoding
import PurchaseModel
import Storage

/// What a ledger holds as one JSON object on one line: the contract of `assay ledger … --json`. Proofs are in base64,
/// which `assay verify` reads.
enum LedgerJSON {
    static func refusals(_ totals: [RefusalTotal], _ samples: [RefusalSample]) -> [UInt8] {
        line { json in
            json.member("refused", totals.reduce(0) { $0 + $1.count })
            json.array("reasons") { json in
                for total in totals {
                    json.object { json in
                        json.member("app", total.app?.text)
                        json.member("reason", total.reason)
                        json.member("verdict", LedgerText.verdict(of: total.reason))
                        json.member("count", total.count)
                        json.member("first_hour", total.first.start)
                        json.member("last_hour", total.last.start)
                    }
                }
            }
            json.array("samples") { json in
                for sample in samples {
                    json.object { json in
                        json.member("received_at", sample.receivedAt)
                        json.member("app", sample.app?.text)
                        json.member("reason", sample.reason)
                        json.member("customer_id", sample.customer?.text)
                        json.member("format", sample.format)
                        json.array("claimed") { json in
                            for id in sample.claimed { json.element(id.description) }
                        }
                        json.member("sha256", Hexadecimal.encode(sample.digest.bytes))
                        json.member("bytes", sample.bytesInAll)
                        json.member("is_whole", sample.bytesInAll == sample.proof.count)
                        json.member("proof", ShownBytes.of(sample).map(base64))
                    }
                }
            }
        }
    }

    static func certificates(_ seen: [SeenCertificate]) -> [UInt8] {
        line { json in
            json.array("certificates") { json in
                for certificate in seen { json.object { CertificateJSON.write(certificate, into: &$0) } }
            }
        }
    }

    static func evidence(_ found: [RecordedEvidence]) -> [UInt8] {
        line { json in
            json.array("transactions") { json in
                for evidence in found {
                    json.object { json in
                        TransactionJSON.write(evidence.recorded, into: &json)
                        json.array("evidence") { json in
                            for proof in evidence.proofs { json.object { write(proof, into: &$0) } }
                        }
                    }
                }
            }
        }
    }

    private static func write(_ proof: EvidenceRow, into json: inout JSONObjectWriter) {
        json.member("received_at", proof.receivedAt)
        json.member("format", proof.format)
        json.member("verdict", proof.verdict)
        json.member("customer_id", proof.customer?.text)
        json.member("sha256", Hexadecimal.encode(proof.digest.bytes))
        json.member("proof", base64(ShownBytes.proof(proof.proof)))
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
    }

    private static func line(_ body: (inout JSONObjectWriter) -> Void) -> [UInt8] {
        ReportJSON.showable(JSONWriter.object(body)) + [0x0A]
    }
}
