import Encoding
import HTTP
import PurchaseModel

// Get All Subscription Statuses.
extension ServerAPI {
    /// One line as the store stood.
    private struct Row: Sendable {
        let group: String
        let originalID: TransactionID
        let status: Int
        let transaction: SoldTransaction
        let renewal: Payload
    }

    private struct SignedRow: Sendable {
        let row: Row
        let transaction: String
        let renewal: String
    }

    func statuses(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id()
        var wanted: Set<Int> = []
        for text in try call.query.all("status", else: .invalidStatus) {
            guard text.utf8.count == 1, let number = Int(text), (1...5).contains(number) else { throw .invalidStatus }
            wanted.insert(number)
        }
        let rows = try simulator.find { store throws(ServerAPIError) in
            guard let owner = store.owner(ofAny: id, for: call) else { throw .transactionNotFound }
            return store.lines(of: owner).compactMap { line -> Row? in
                let status = store.status(of: line).rawValue
                guard wanted.isEmpty || wanted.contains(status), let current = store.transactions[line.current] else {
                    return nil
                }
                return Row(
                    group: line.group,
                    originalID: line.originalID,
                    status: status,
                    transaction: current,
                    renewal: .renewal(of: line, in: store)
                )
            }
        }
        let texts = try sign(rows.map(\.transaction), call)
        var signed: [SignedRow] = []
        for (row, text) in zip(rows, texts) {
            signed.append(SignedRow(row: row, transaction: text, renewal: try sign(row.renewal)))
        }
        return answer(signed, call)
    }

    private func answer(_ rows: [SignedRow], _ call: MerchantCall) -> HTTPResponse {
        let groups = Dictionary(grouping: rows, by: \.row.group).sorted { $0.key < $1.key }
        return .answer { json in
            json.member("environment", call.environmentName)
            json.member("bundleId", call.app.bundleID.text)
            json.member("appAppleId", call.appleID)
            json.array("data") { list in
                for (group, rows) in groups {
                    list.object { json in
                        json.member("subscriptionGroupIdentifier", group)
                        json.array("lastTransactions") { list in
                            for signed in rows {
                                list.object { json in
                                    json.member("originalTransactionId", signed.row.originalID.description)
                                    json.member("status", signed.row.status)
                                    json.member("signedTransactionInfo", signed.transaction)
                                    json.member("signedRenewalInfo", signed.renewal)
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
