import Encoding
import Pipeline
import Storage

/// What `assay check` says to people: a line for each violation.
enum CheckText {
    static func text(_ result: CheckLedger.Result) -> String {
        var text = result.problems.isEmpty ? (result.isSound ? "sound\n" : "not sound\n") : "damaged\n"
        for problem in result.problems { text += "  problem        \(ReportText.printable(problem))\n" }
        guard let findings = result.findings else { return text + "  its rows cannot be looked at\n" }
        for violation in findings.listed { text += line(violation) + "\n" }
        let unlisted = findings.violations - findings.listed.count
        if unlisted > 0 { text += "  and \(unlisted) more of these\n" }
        let rows = [
            ("transactions", findings.transactions), ("fulfilments", findings.fulfilments),
            ("subscriptions", findings.subscriptions), ("orders", findings.orders), ("wallets", findings.wallets),
            ("granted", findings.grantedEntitlements), ("postings", findings.postings),
            ("events", findings.events), ("deliveries", findings.deliveries), ("proofs", findings.proofs),
            ("submissions", findings.submissions), ("consumptions", findings.consumptions),
            ("support asked", findings.supports), ("audit rows", findings.auditRows),
            ("violations", findings.violations),
        ]
        for (name, count) in rows {
            text += "  " + name + String(repeating: " ", count: 15 - name.utf8.count) + "\(count)\n"
        }
        if findings.endpointsChanged > 0 {
            text += "  \(findings.endpointsChanged) endpoints were changed: what they missed is not known\n"
        }
        guard let head = findings.auditHead else { return text }
        return text + "  audit head     \(head.number):\(Hexadecimal.encode(head.digest))\n"
    }

    /// Such as `balance_differs app=shop environment=production customer_id=anna currency=gems: the balance …`.
    static func line(_ violation: LedgerViolation) -> String {
        let names = violation.names.map { "\($0.key)=\($0.value)" }
        let words = ([violation.code.rawValue] + names).joined(separator: " ")
        return ReportText.printable("  \(words): \(violation.found); \(violation.code.advice)")
    }
}

/// The same as one JSON object on one line: the contract of `assay check --json`.
enum CheckJSON {
    static func line(_ result: CheckLedger.Result) -> [UInt8] {
        OperatorJSON.line { write(result, into: &$0) }
    }

    static func write(_ result: CheckLedger.Result, into json: inout JSONObjectWriter) {
        json.member("is_sound", result.isSound)
        json.array("problems") { json in for problem in result.problems { json.element(problem) } }
        guard let findings = result.findings else { return }
        json.member("violations", findings.violations)
        // Each code is there, so that who keeps the numbers sees them come and go.
        json.object("counts") { json in
            for code in ViolationCode.allCases { json.member(code.rawValue, findings.counts[code] ?? 0) }
        }
        json.array("listed") { json in
            for violation in findings.listed { json.object { write(violation, into: &$0) } }
        }
        json.member("transactions", findings.transactions)
        json.member("fulfilments", findings.fulfilments)
        json.member("subscriptions", findings.subscriptions)
        json.member("orders", findings.orders)
        json.member("wallets", findings.wallets)
        json.member("granted_entitlements", findings.grantedEntitlements)
        json.member("postings", findings.postings)
        json.member("events", findings.events)
        json.member("deliveries", findings.deliveries)
        json.member("proofs", findings.proofs)
        json.member("submissions", findings.submissions)
        json.member("consumption_requests", findings.consumptions)
        json.member("support_requests", findings.supports)
        json.member("endpoints_changed", findings.endpointsChanged)
        json.member("audit_rows", findings.auditRows)
        guard let head = findings.auditHead else { return }
        json.object("audit_head") { json in
            json.member("number", head.number)
            json.member("sha256", Hexadecimal.encode(head.digest))
        }
    }

    private static func write(_ violation: LedgerViolation, into json: inout JSONObjectWriter) {
        json.member("code", violation.code.rawValue)
        for name in violation.names { json.member(name.key, name.value) }
        json.member("found", violation.found)
        json.member("advice", violation.code.advice)
    }
}
