package import Storage

/// What was noted elsewhere of the audit log's chain.
package struct NotedLinks: Sendable {
    /// A head that was told once: its row must still have that link.
    package var head: AuditLink?
    /// A link to go on from: what is broken up to its row was looked into.
    package var start: AuditLink?

    package init(head: AuditLink? = nil, start: AuditLink? = nil) {
        self.head = head
        self.start = start
    }
}

// The audit log: whether each row is as it was noted, and follows the one that it followed then.
extension LedgerCheck {
    /// Looks at every row, and at each link of the chain.
    ///
    /// - Throws: `StoreFailure` when the ledger cannot be read.
    mutating func checkAudit(_ noted: NotedLinks) throws(StoreFailure) {
        let start = try noted.start.flatMap { link throws(StoreFailure) in
            try row(of: link, "it was to be gone on from")
        }
        let first = try reader.walkAuditChain(after: nil, limit: 1).rows.first
        let fold = try foldAudit(until: first?.place, lookedInto: start?.place)
        try checkAuditChain(after: start == nil ? nil : noted.start, from: fold)
        if let head = noted.head { _ = try row(of: head, "it was noted elsewhere") }
    }

    /// The row that has a link which was noted; what is not so is told.
    ///
    /// - Returns: `nil` where there is none of that number, or its link is another.
    private mutating func row(of link: AuditLink, _ why: String) throws(StoreFailure) -> AuditRow? {
        let found = try reader.walkAuditChain(after: .afterLink(link.number - 1), limit: 1).rows.first
        guard let row = found, row.number == link.number else {
            let names = [LedgerViolation.Name(key: "number", value: "\(link.number)")]
            findings.add(.auditChainBroken, names, "\(why), and the log has no such link")
            return nil
        }
        guard row.link == link.digest else {
            addBroken(row, "\(why), and its link is another")
            return nil
        }
        return row
    }

    /// Looks at every row, in or outside of the chain.
    ///
    /// - Parameters:
    ///   - end: the place of the chain's first row; `nil` where there is no chain yet.
    ///   - known: up to which place what is broken was looked into; `nil` where nothing was.
    /// - Returns: what the chain goes on from: the fold of all that is older.
    /// - Throws: `StoreFailure` when the ledger cannot be read.
    private mutating func foldAudit(until end: Int64?, lookedInto known: Int64?) throws(StoreFailure) -> [UInt8] {
        let reader = reader
        var fold = AuditLink.start
        try walk { place throws(StoreFailure) in
            try reader.walkAuditLog(after: place, limit: Self.pageMax)
        } _: { check, page throws(StoreFailure) in
            check.findings.auditRows += page.count
            for row in page {
                let isTied = row.number != nil && row.link != nil
                if row.number == nil, row.link == nil, row.action.isChained, row.place < end ?? .max {
                    fold = AuditLink.digest(after: fold, number: 0, row.place, row.action)
                    continue
                }
                if let known, row.place <= known { continue }
                switch (row.number, row.link) {
                case (nil, nil):
                    if row.action.isChained { check.addBroken(row, "it has no link, and is not older than the chain") }
                case _ where !isTied: check.addBroken(row, "it has a number or a link, and not both")
                default: if !row.action.isChained { check.addBroken(row, "a refused sign-in has a link") }
                }
            }
        }
        return fold
    }

    /// - Parameters:
    ///   - start: the link to go on from; `nil` for the whole chain.
    ///   - fold: what the whole chain goes on from.
    /// - Throws: `StoreFailure` when the ledger cannot be read.
    private mutating func checkAuditChain(after start: AuditLink?, from fold: [UInt8]) throws(StoreFailure) {
        let reader = reader
        let before = start.map { WalkPlace.afterLink($0.number) }
        var chain = LedgerWalk { place throws(StoreFailure) in
            try reader.walkAuditChain(after: place ?? before, limit: Self.pageMax)
        }
        var last = start ?? AuditLink(number: 0, digest: fold)
        // What could not be read was told where every row was looked at.
        while let row = try chain.pop() {
            guard let number = row.number else { continue }
            if number != last.number &+ 1 {
                addBroken(row, "the number after \(last.number) is \(number)")
            } else if row.link != AuditLink.digest(after: last.digest, number: number, row.place, row.action) {
                addBroken(row, "its link is not what follows from it and from the link before")
            }
            last = AuditLink(number: number, digest: row.link ?? [])
        }
        if last.number > 0 { findings.auditHead = last }
    }

    private mutating func addBroken(_ row: AuditRow, _ found: String) {
        var names = [LedgerViolation.Name(key: "place", value: "\(row.place)")]
        if let number = row.number { names.insert(.init(key: "number", value: "\(number)"), at: 0) }
        findings.add(.auditChainBroken, names, found)
    }
}
