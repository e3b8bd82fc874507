import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// verifyReceipt of a store that stands still: what a merchant's server sees of it.
struct ReceiptDesk {
    let simulator: AppStoreSimulator
    let endpoint: VerifyReceiptEndpoint
    private let store: SimulatedStore

    init(
        _ life: StoreLife,
        fault: @escaping @Sendable (StoreEnvironment) -> VerifyReceiptEndpoint.Fault? = { _ in nil }
    ) {
        store = life.store
        simulator = AppStoreSimulator(
            life.store,
            authority: TestAuthority.shared,
            wallClock: ManualClock(StoreLife.start)
        )
        endpoint = VerifyReceiptEndpoint(simulator, fault: fault)
    }

    func ledger(of customer: String = "anna") throws -> CustomerLedger {
        let owner = SimulatedStore.Owner(customer: customer, app: DemoCatalogue.bundleID)
        return try #require(CustomerLedger(store, owner))
    }

    func receipt(of customer: String = "anna") throws -> [UInt8] {
        try CustomerReceipts(TestAuthority.shared).appReceipt(ledger(of: customer))
    }

    func oldReceipt(
        of sold: SoldTransaction,
        version: OldReceiptSigner.Version = .four
    ) throws -> [UInt8] {
        try CustomerReceipts(TestAuthority.shared)
            .transactionReceipt(sold, ledger(of: sold.customer), version: version)
    }

    static func body(
        _ receipt: [UInt8],
        password: String? = DemoCatalogue.sharedSecret,
        excludesOld: Bool? = nil
    ) -> [UInt8] {
        JSONWriter.object { body in
            body.member(
                "receipt-data",
                String(decoding: Base64.encode(receipt, .standard, isPadded: true), as: UTF8.self)
            )
            body.member("password", password)
            body.member("exclude-old-transactions", excludesOld)
        }
    }

    func answer(_ body: [UInt8], _ environment: StoreEnvironment = .production) throws -> JSONObject {
        let request = HTTPRequest(method: .post, path: "/", body: body)
        let response = endpoint.respond(to: request, environment)
        #expect(response.status == .ok)
        return try #require(try JSONDocument(response.body).root.object)
    }

    func ask(
        _ receipt: [UInt8],
        _ environment: StoreEnvironment = .production,
        password: String? = DemoCatalogue.sharedSecret,
        excludesOld: Bool? = nil
    ) throws -> JSONObject {
        try answer(Self.body(receipt, password: password, excludesOld: excludesOld), environment)
    }

    /// The answer to a customer's newest receipt.
    func ask(about customer: String = "anna", _ environment: StoreEnvironment = .production) throws -> JSONObject {
        try ask(receipt(of: customer), environment)
    }
}

extension JSONObject {
    var keys: Set<String> { Set(members.map(\.key)) }
    var status: Int64? { self["status"]?.int64 }

    func text(_ key: String) -> String? { self[key]?.string }
    func list(_ key: String) -> [JSONObject] { self[key]?.array.map { $0.compactMap(\.object) } ?? [] }
}

extension Set<String> {
    /// The words of a line; one that ends in `*` stands for a moment's three forms.
    static func keys(_ line: String) -> Set<String> {
        Set(
            line.split(separator: " ").flatMap { word -> [String] in
                guard word.hasSuffix("*") else { return [String(word)] }
                let name = String(word.dropLast())
                return [name, name + "_ms", name + "_pst"]
            }
        )
    }
}
