package import Crypto
import Encoding
package import HTTP
import PurchaseModel

/// What the store would put into a customer's hands: signed transactions and receipts of every era, right ones, and
/// wrong ones for the tests of whoever must refuse them.
package struct ProofEndpoints: Sendable {
    private let simulator: AppStoreSimulator
    private let signer: StoreSigner

    /// - Throws: when the authority cannot make its keys.
    package init(_ simulator: AppStoreSimulator) throws(CryptoError) {
        self.simulator = simulator
        signer = try StoreSigner(simulator.authority)
    }

    package func routes() -> [Route] {
        [
            Route(.get, "/simulator/v1/authority") { _, _ in authority() },
            Route(.get, "/simulator/v1/transactions/{id}") { _, path in transaction(path["id"] ?? "") },
            Route(.get, "/simulator/v1/transactions/{id}/receipt") { request, path in
                oldReceipt(path["id"] ?? "", request.query)
            },
            Route(.get, "/simulator/v1/flaws") { _, _ in flaws() },
            Route(.get, "/simulator/v1/transactions/{id}/flawed/{flaw}") { _, path in
                flawed(path["id"] ?? "", path["flaw"] ?? "")
            },
            Route(.get, "/simulator/v1/customers/{name}/receipt") { request, path in
                receipt(of: path["name"] ?? "", request.query)
            },
            Route(.get, "/simulator/v1/customers/{name}/receipt/flawed/{flaw}") { _, path in
                flawedReceipt(of: path["name"] ?? "", path["flaw"] ?? "")
            },
            Route(.get, "/simulator/v1/customers/{name}/app_transaction") { _, path in
                appTransaction(of: path["name"] ?? "")
            },
        ]
    }

    /// The roots that whoever is to believe all this must trust, and what iOS 6 receipts do not carry.
    private func authority() -> HTTPResponse {
        signing { () throws(CryptoError) in
            let roots = try simulator.authority.roots()
            let intermediates = try simulator.authority.intermediates()
            return ControlAnswer.json { json in
                json.array("roots") { json in for root in roots { json.element(text(root)) } }
                json.array("intermediates") { json in for each in intermediates { json.element(text(each)) } }
            }
        }
    }

    private func transaction(_ id: String) -> HTTPResponse {
        let found = simulator.read { store in
            sold(id, in: store).map { sold, app in
                (
                    sold: sold, payload: Payload.transaction(sold, of: app, signedAt: store.now),
                    renewal: store.lines[sold.originalID].map { Payload.renewal(of: $0, in: store) }
                )
            }
        }
        guard let (sold, payload, next) = found else { return ControlAnswer.notFound("transaction") }
        return signing { () throws(CryptoError) in
            let signed = try signer.sign(payload)
            let renewal = try next.map { payload throws(CryptoError) in try signer.sign(payload) }
            return ControlAnswer.json { json in
                LedgerJSON.write(sold, into: &json)
                json.member("signed_transaction_info", signed)
                json.member("signed_renewal_info", renewal)
            }
        }
    }

    /// An iOS 6 receipt; `version=` 2, 3 or 4.
    private func oldReceipt(_ id: String, _ query: String?) -> HTTPResponse {
        let versions: [String: OldReceiptSigner.Version] = ["version=2": .two, "version=3": .three, "version=4": .four]
        guard let version = versions[query ?? "version=4"] else {
            return ControlAnswer.fault(StoryFault("version", "must be 2, 3 or 4"))
        }
        let found = simulator.read { store in
            sold(id, in: store).flatMap { sold, app in
                CustomerLedger(store, SimulatedStore.Owner(customer: sold.customer, app: app.bundleID))
                    .map { (sold: sold, ledger: $0) }
            }
        }
        guard let (sold, ledger) = found else { return ControlAnswer.notFound("transaction") }
        return signing { () throws(CryptoError) in
            let receipts = CustomerReceipts(simulator.authority)
            return receipt(try receipts.transactionReceipt(sold, ledger, version: version))
        }
    }

    /// An app receipt; `digest=` sha256 or sha1.
    private func receipt(of name: String, _ query: String?) -> HTTPResponse {
        let digests: [String: Digest] = ["digest=sha256": .sha256, "digest=sha1": .sha1]
        guard let digest = digests[query ?? "digest=sha256"] else {
            return ControlAnswer.fault(StoryFault("digest", "must be sha256 or sha1"))
        }
        guard let ledger = ledger(of: name) else { return ControlAnswer.notFound("customer with an app") }
        return signing { () throws(CryptoError) in
            receipt(try CustomerReceipts(simulator.authority).appReceipt(ledger, digest: digest))
        }
    }

    private func appTransaction(of name: String) -> HTTPResponse {
        let found = simulator.read { store -> Payload? in
            guard let owner = owner(name, store), let customer = store.customers[name], let app = store.apps[owner.app],
                let download = customer.downloads[owner.app]
            else { return nil }
            return .appTransaction(download, of: app, in: customer.environment, signedAt: store.now)
        }
        guard let payload = found else { return ControlAnswer.notFound("customer with an app") }
        return signing { () throws(CryptoError) in
            let signed = try signer.sign(payload)
            return ControlAnswer.json { $0.member("signed_app_transaction_info", signed) }
        }
    }

    /// The transaction, signed wrongly in one way: a name of ``ChainFlaw`` or ``JWSFlaw``, or `xcode`.
    private func flawed(_ id: String, _ flaw: String) -> HTTPResponse {
        let found = simulator.read { store in
            sold(id, in: store).map { sold, app in Payload.transaction(sold, of: app, signedAt: store.now) }
        }
        guard let payload = found else { return ControlAnswer.notFound("transaction") }
        return signing { () throws(CryptoError) in
            let authority = simulator.authority
            let signed: String
            if let chainFlaw = ChainFlaw(rawValue: flaw) {
                signed = try JWSSigner(authority.chain(.jws, flaw: chainFlaw)).sign(payload)
            } else if let jwsFlaw = JWSFlaw(rawValue: flaw) {
                signed = try JWSSigner(authority.chain(.jws)).sign(payload, flaw: jwsFlaw)
            } else if flaw == "xcode" {
                signed = try JWSSigner(authority.xcodeChain(), isXcode: true).sign(payload.inXcodeStyle())
            } else {
                return ControlAnswer.notFound("flaw")
            }
            return ControlAnswer.json { $0.member("signed_transaction_info", signed) }
        }
    }

    /// The customer's app receipt, wrong in one way: a name of ``ChainFlaw`` or ``ReceiptFlaw``.
    private func flawedReceipt(of name: String, _ flaw: String) -> HTTPResponse {
        guard let ledger = ledger(of: name) else { return ControlAnswer.notFound("customer with an app") }
        let content = CustomerReceipts(simulator.authority).content(ledger)
        return signing { () throws(CryptoError) in
            let authority = simulator.authority
            if let flaw = ChainFlaw(rawValue: flaw) {
                let chain = try authority.chain(.receiptSHA256, flaw: flaw)
                return receipt(try ReceiptSigner(chain, digest: .sha256).sign(content))
            }
            guard let flaw = ReceiptFlaw(rawValue: flaw) else { return ControlAnswer.notFound("flaw") }
            let signer = ReceiptSigner(try authority.chain(.receiptSHA256), digest: .sha256)
            return receipt(try signer.sign(content, flaw: flaw))
        }
    }

    private func flaws() -> HTTPResponse {
        ControlAnswer.json { json in
            json.array("chain") { json in
                for flaw in ChainFlaw.allCases where flaw.applies(to: .jws) { json.element(flaw.rawValue) }
            }
            json.array("jws") { json in for flaw in JWSFlaw.allCases { json.element(flaw.rawValue) } }
            json.array("receipt") { json in for flaw in ReceiptFlaw.allCases { json.element(flaw.rawValue) } }
        }
    }

    // Only what is signed leaves the store: a copy of the whole, held while a key works, would make the next act copy all.

    private func sold(_ id: String, in store: SimulatedStore) -> (SoldTransaction, StoreApp)? {
        guard let sold = TransactionID(id).flatMap({ store.transactions[$0] }), let app = store.apps[sold.app] else {
            return nil
        }
        return (sold, app)
    }

    private func ledger(of name: String) -> CustomerLedger? {
        simulator.read { store in owner(name, store).flatMap { CustomerLedger(store, $0) } }
    }

    private func owner(_ name: String, _ store: SimulatedStore) -> SimulatedStore.Owner? {
        store.apps.keys.sorted().map { SimulatedStore.Owner(customer: name, app: $0) }
            .first { store.customers[name]?.downloads[$0.app] != nil }
    }

    private func receipt(_ bytes: [UInt8]) -> HTTPResponse {
        ControlAnswer.json { $0.member("receipt_data", text(bytes)) }
    }

    private func text(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
    }

    private func signing(_ body: () throws(CryptoError) -> HTTPResponse) -> HTTPResponse {
        do throws(CryptoError) {
            return try body()
        } catch {
            return ControlAnswer.problem(.internalServerError, code: "cannot_sign", detail: "\(error)")
        }
    }
}
