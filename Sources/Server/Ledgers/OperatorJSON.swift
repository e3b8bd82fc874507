import Encoding
import Pipeline
import Storage

/// What commands that work on a whole ledger have done, as one JSON object on one line: the contract of their `--json`, in
/// docs/cli.md.
enum OperatorJSON {
    /// - Parameters:
    ///   - migrations: that were not applied before.
    ///   - isDryRun: whether they still are not.
    /// - Returns: the line.
    static func migrated(_ migrations: [String], isDryRun: Bool) -> [UInt8] {
        line { json in
            json.member("is_up_to_date", !isDryRun || migrations.isEmpty)
            json.member("is_dry_run", isDryRun)
            json.array("migrations") { json in for name in migrations { json.element(name) } }
        }
    }

    static func copied(to path: String, sha256: String, bytes: Int64?) -> [UInt8] {
        line { json in
            json.member("file", path)
            json.member("bytes", bytes)
            json.member("sha256", sha256)
        }
    }

    /// Everything that `check` says of the copy, and whether it is a ledger now.
    static func restored(_ result: CheckLedger.Result, to folder: String, isTaken: Bool) -> [UInt8] {
        line { json in
            json.member("is_restored", isTaken)
            json.member("data", folder)
            json.member("newest_proof_at", result.findings?.newestProofAt)
            CheckJSON.write(result, into: &json)
        }
    }

    static func exported(_ report: ExportReport, to path: String) -> [UInt8] {
        line { json in
            json.member("file", path)
            json.member("rows", report.rows)
            json.object("counts") { json in
                for (kind, count) in report.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    json.member(kind.rawValue, count)
                }
            }
            // As the file's own last line has them.
            json.member("unreadable", report.unreadable.count)
            json.member("events_after", report.end.position)
            json.array("left_out") { json in for row in report.unreadable { json.element(row) } }
        }
    }

    static func line(_ body: (inout JSONObjectWriter) -> Void) -> [UInt8] {
        ReportJSON.showable(JSONWriter.object(body)) + [0x0A]
    }
}
