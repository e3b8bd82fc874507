import Encoding

/// The doctor's findings for people, and as JSON.
enum FindingText {
    static func text(_ findings: [Finding], _ paint: Paint) -> String {
        let width = findings.map { name($0).unicodeScalars.count }.max() ?? 0
        let lines = findings.flatMap { finding in
            let name = name(finding)
            let padding = String(repeating: " ", count: width - name.unicodeScalars.count + 2)
            var lines = ["\(status(finding.status, paint))  \(name)\(padding)\(ReportText.printable(finding.found))"]
            if let cause = finding.cause { lines += paragraph("cause", cause) }
            if let fix = finding.fix { lines += paragraph("fix", fix) }
            return lines
        }
        return (lines + ["", summary(findings)]).joined(separator: "\n") + "\n"
    }

    static func json(_ findings: [Finding]) -> [UInt8] {
        JSONWriter.object { json in
            json.member("is_good", isGood(findings))
            json.array("findings") { json in
                for finding in findings {
                    json.object { json in
                        json.member("check", finding.check)
                        json.member("subject", finding.subject.isEmpty ? nil : finding.subject)
                        json.member("status", finding.status.rawValue)
                        json.member("found", finding.found)
                        json.member("cause", finding.cause)
                        json.member("fix", finding.fix)
                    }
                }
            }
        }
    }

    static func isGood(_ findings: [Finding]) -> Bool { findings.allSatisfy { $0.status == .ok } }

    private static func name(_ finding: Finding) -> String {
        ReportText.printable([finding.check, finding.subject].filter { !$0.isEmpty }.joined(separator: " "))
    }

    private static func status(_ status: Finding.Status, _ paint: Paint) -> String {
        switch status {
        case .ok: paint.good("ok  ")
        case .warn: paint.doubtful("warn")
        case .fail: paint.bad("FAIL")
        }
    }

    /// The word, and its lines under each other.
    private static func paragraph(_ word: String, _ text: String) -> [String] {
        text.split(separator: "\n").enumerated().map { index, line in
            let head = index == 0 ? word + String(repeating: " ", count: 7 - word.utf8.count) : "       "
            return "      " + head + ReportText.printable(String(line))
        }
    }

    private static func summary(_ findings: [Finding]) -> String {
        let counts = [Finding.Status.ok, .warn, .fail].map { status in findings.count { $0.status == status } }
        return "\(counts[0]) good, \(counts[1]) to look at, \(counts[2]) wrong"
    }
}
