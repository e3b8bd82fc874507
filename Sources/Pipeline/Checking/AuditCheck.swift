import Storage

// The audit log: whether each row is as it was noted, and follows the one that it followed then.
extension LedgerCheck {
    /// Looks at every row, and at each link of the chain.
    ///
    /// - Parameter noted: a head of the chain that was noted elsewhere; `nil` when none was.
    /// - Throws: `StoreFailure` when the ledger cannot be read.
    mutating func checkAudit(_ noted: AuditLink?) throws(StoreFailure) {
        let first = try reader.walkAuditChain(after: nil, limit: 1).rows.first
        try checkAuditChain(from: try foldAudit(until: first?.place), noted)
    }

    /// Looks at every row, in or outside of the chain.
    ///
    /// - Parameter end: the place of the chain's first row; `nil` where there is no chain yet.
    /// - Returns: what the chain goes on from: the fold of all that is older.
    /// - Throws: `StoreFailure` when the ledger cannot be read.
    private mutating func foldAudit(until end: Int64?) throws(StoreFailure) -> [UInt8] {
        let reader = reader
        var fold = AuditLink.start
        try walk { place throws(StoreFailure) in
            try reader.walkAuditLog(after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.auditRows += page.count
            for row in page {
                switch (row.number, row.link) {
                case (nil, nil) where !row.action.isChained: break
                case (nil, nil) where row.place < end ?? .max:
                    fold = AuditLink.digest(after: fold, number: 0, row.place, row.action)
                case (nil, nil): check.addBroken(row, "it has no link, and is not older than the chain")
                case (.some, .some) where row.action.isChained: break
                case (.some, .some): check.addBroken(row, "a refused sign-in has a link")
                default: check.addBroken(row, "it has a number or a link, and not both")
                }
            }
        }
        return fold
    }

    private mutating func checkAuditChain(from fold: [UInt8], _ noted: AuditLink?) throws(StoreFailure) {
        let reader = reader
        var chain = LedgerWalk { place throws(StoreFailure) in
            try reader.walkAuditChain(after: place, limit: Self.pageMax)
        }
        var (last, isNotedThere) = (AuditLink(number: 0, digest: fold), noted == nil)
        // What could not be read was told where every row was looked at.
        while let row = try chain.pop() {
            guard let number = row.number else { continue }
            let link = row.link ?? []
            if number != last.number &+ 1 {
                addBroken(row, "the number after \(last.number) is \(number)")
            } else if row.link != AuditLink.digest(after: last.digest, number: number, row.place, row.action) {
                addBroken(row, "its link is not what follows from it and from the link before")
            }
            if number == noted?.number {
                isNotedThere = true
                if link != noted?.digest { addBroken(row, "its link is not the one that was noted elsewhere") }
            }
            last = AuditLink(number: number, digest: link)
        }
        if last.number > 0 { findings.auditHead = last }
        guard let noted, !isNotedThere else { return }
        let names = [LedgerViolation.Name(key: "number", value: "\(noted.number)")]
        findings.add(.auditChainBroken, names, "it was noted elsewhere, and the log ends at \(last.number)")
    }

    private mutating func addBroken(_ row: AuditRow, _ found: String) {
        var names = [LedgerViolation.Name(key: "place", value: "\(row.place)")]
        if let number = row.number { names.insert(.init(key: "number", value: "\(number)"), at: 0) }
        findings.add(.auditChainBroken, names, found)
    }
}
