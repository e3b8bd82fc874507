import Crypto
import Encoding
import PurchaseModel
import Storage
import Verification

// The rows of each table.
extension LedgerExport {
    mutating func writeTransactions() throws(StoreFailure) -> Bool {
        let (app, reader) = (app, reader)
        return try walk(.transaction) { place throws(StoreFailure) in
            try reader.walkTransactions(app: app, after: place, limit: Self.pageMax)
        } _: { export, page throws(StoreFailure) in
            let owners = try export.owners(page.map(\.recorded.chain))
            let given = try export.given(page.map(\.recorded))
            var rows: [[UInt8]] = []
            for row in page.map(\.recorded) {
                let until = min(row.recordedAt, export.now)
                export.report.recordedUntil = max(export.report.recordedUntil ?? until, until)
                let evidence = export.includesProofs ? try reader.latestEvidence(of: row.key) : nil
                let proof = evidence.flatMap { export.isNew($0.digest) ? BareProof.of($0.proof) : nil }
                rows.append(
                    try Self.object(.transaction, nil) { json in
                        TransactionJSON.write(row, into: &json)
                        json.member("owner_id", owners[row.chain])
                        json.member("proof_sha256", evidence.map { Hexadecimal.encode($0.digest.bytes) })
                        json.member("proof", proof.map(Self.text))
                        given.write(row, into: &json)
                    }
                )
            }
            return rows
        }
    }

    /// What told more of a transaction than the receipt that is its newest proof.
    mutating func writeEvidence() throws(StoreFailure) -> Bool {
        guard includesProofs else { return true }
        let (app, reader) = (app, reader)
        return try walk(.evidence) { place throws(StoreFailure) in
            try reader.walkTransactions(app: app, after: place, limit: Self.pageMax)
        } _: { export, page throws(StoreFailure) in
            let owners = try export.owners(page.map(\.recorded.chain))
            var fuller: [(RecordedTransaction, EvidenceRow)] = []
            for row in page.map(\.recorded) {
                guard let evidence = try reader.fullerEvidence(of: row.key), export.isNew(evidence.digest) else {
                    continue
                }
                fuller.append((row, evidence))
            }
            let given = try export.given(fuller.map(\.0))
            var rows: [[UInt8]] = []
            for (row, evidence) in fuller {
                rows.append(
                    try Self.object(.evidence, row.realm) { json in
                        json.member("transaction_id", row.id.description)
                        json.member("original_transaction_id", row.chain.original.description)
                        json.member("owner_id", owners[row.chain])
                        json.member("proof_sha256", Hexadecimal.encode(evidence.digest.bytes))
                        json.member("proof", Self.text(BareProof.of(evidence.proof)))
                        given.write(row, into: &json)
                    }
                )
            }
            return rows
        }
    }

    /// What was given, save what cannot be read: of a ledger that is damaged the rest is exported.
    private mutating func given(_ recorded: [RecordedTransaction]) throws(StoreFailure) -> ExportedBooks {
        let reader = reader
        let found = try LookedUp(recorded.flatMap(\.chains), by: \Fulfilment.chain) { chains throws(StoreFailure) in
            try reader.fulfilments(chains)
        }
        unreadable.formUnion(found.unreadable)
        return ExportedBooks(found.rows.values.joined())
    }

    /// A JWS as it is, anything else in base64: as whoever presents a proof sends it.
    private static func text(_ proof: [UInt8]) -> String {
        let isText = proof.allSatisfy { (0x21...0x7E).contains($0) }
        return String(decoding: isText ? proof : Base64.encode(proof, .standard, isPadded: true), as: UTF8.self)
    }

    private mutating func isNew(_ digest: ProofDigest) -> Bool {
        if seen.count >= Self.seenMax { seen = [] }
        return seen.insert(digest).inserted
    }

    private func owners(_ chains: [ChainKey]) throws(StoreFailure) -> [ChainKey: String] {
        let owners = try reader.owners(Array(Set(chains)))
        return Dictionary(owners.map { ($0.chain, $0.customer.text) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func writeFulfilments() throws(StoreFailure) -> Bool {
        let (app, reader) = (app, reader)
        return try walk(.fulfilment) { place throws(StoreFailure) in
            try reader.walkFulfilments(app: app, after: place, limit: Self.pageMax)
        } _: { _, page throws(StoreFailure) in
            var rows: [[UInt8]] = []
            for row in page {
                rows.append(
                    try Self.object(.fulfilment, row.transaction.realm) { json in
                        json.member("transaction_id", row.transaction.id.description)
                        json.member("original_transaction_id", row.original.description)
                        FulfilmentJSON.write(row, into: &json)
                    }
                )
            }
            return rows
        }
    }

    mutating func writeOrders() throws(StoreFailure) -> Bool {
        let (app, reader) = (app, reader)
        return try walk(.order) { place throws(StoreFailure) in
            try reader.walkOrders(app: app, after: place, limit: Self.pageMax)
        } _: { _, page throws(StoreFailure) in
            var rows: [[UInt8]] = []
            for row in page { rows.append(try Self.object(.order, nil) { OrderJSON.write(row, into: &$0) }) }
            return rows
        }
    }

    mutating func writeSubscriptions() throws(StoreFailure) -> Bool {
        let (app, reader) = (app, reader)
        return try walk(.subscription) { place throws(StoreFailure) in
            try reader.walkSubscriptions(app: app, after: place, limit: Self.pageMax)
        } _: { export, page throws(StoreFailure) in
            let owners = try export.owners(page.map(\.chain))
            let recorded = try reader.transactions(page.compactMap(\.currentKey))
            let periods = Dictionary(recorded.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
            var rows: [[UInt8]] = []
            for row in page {
                let period = row.currentKey.flatMap { periods[$0]?.transaction }
                let found = PurchaseModel.fold(row.chain, period, row.renewal, row.ends, at: export.now)
                guard let found else { continue }
                rows.append(
                    try Self.object(.subscription, nil) { json in
                        SubscriptionJSON.write(found, into: &json)
                        json.member("owner_id", owners[row.chain])
                    }
                )
            }
            return rows
        }
    }

    mutating func writeBalances() throws(StoreFailure) -> Bool {
        let (app, reader) = (app, reader)
        return try walk(.balance) { place throws(StoreFailure) in
            try reader.walkWallets(app: app, after: place, limit: Self.pageMax)
        } _: { _, page throws(StoreFailure) in
            var rows: [[UInt8]] = []
            for row in page {
                rows.append(
                    try Self.object(.balance, row.key.realm) { json in
                        json.member("customer_id", row.key.customer.text)
                        json.member("currency", row.key.currency.text)
                        json.member("balance", row.balance)
                        json.member("uncollected", row.uncollected)
                    }
                )
            }
            return rows
        }
    }

    mutating func writeGrantedEntitlements() throws(StoreFailure) -> Bool {
        let (app, reader) = (app, reader)
        return try walk(.grantedEntitlement) { place throws(StoreFailure) in
            try reader.walkGrantedEntitlements(app: app, after: place, limit: Self.pageMax)
        } _: { _, page throws(StoreFailure) in
            var rows: [[UInt8]] = []
            for row in page {
                rows.append(try Self.object(.grantedEntitlement, nil) { GrantedEntitlementJSON.write(row, into: &$0) })
            }
            return rows
        }
    }

    /// In the order of the feed, as a webhook would tell them.
    mutating func writeEvents() throws(StoreFailure) -> Bool {
        let filter = EventFilter(realms: Set(Realm.known))
        var place = EventCursor.start
        while true {
            let page = try reader.events(app: app, after: place, where: filter, limit: Self.pageMax)
            for placed in page.events {
                let row = try Self.object(.event, placed.event.realm) { json in
                    json.member("cursor", placed.cursor.position)
                    json.member("event_id", placed.event.id.text)
                    json.member("customer_id", placed.event.customer?.text)
                    guard let told = try? JSONDocument(WebhookBody.bytes(of: placed.event)).root.object else { return }
                    for (name, value) in told.members { json.member(name, value) }
                }
                guard put(.event, row) else { return false }
            }
            guard page.hasMore, page.next != place else { return true }
            place = page.next
        }
    }
}
