import COpenSSL
import Crypto
import PurchaseModel
import Simulator

/// What signing a transaction costs the simulated store beside the signature itself.
struct SigningBenchmark {
    private let raw: RawSigning
    private let chain: SigningChain
    private let prepared: PreparedSigner
    private let signer: StoreSigner
    private let app: StoreApp
    private let sold: [SoldTransaction]
    private let payloads: [Payload]

    init(authority: SimulatorAuthority) throws {
        let chain = try authority.chain(.jws)
        self.chain = chain
        raw = try RawSigning(chain.key)
        prepared = try PreparedSigner(chain)
        signer = try StoreSigner(authority)
        var product = StoreProduct(
            id: ProductID(checked: "pro.monthly"),
            kind: .autoRenewable,
            appleID: 6_440_000_001,
            price: Price(milliunits: 4_990, currency: "USD")
        )
        product.group = "21456789"
        product.period = .month
        var app = StoreApp(
            bundleID: Samples.bundleID,
            appleID: Samples.appleID,
            issuerID: "57246542-96fe-1a63-e053-0824d011072a",
            sharedSecret: "0123456789abcdef0123456789abcdef"
        )
        app.products[product.id] = product
        var store = SimulatedStore(startingAt: Samples.moment, seed: 1)
        store.set(app)
        for number in 0..<64 {
            store.set(StoreCustomer(name: "customer-\(number)", environment: .production))
            let purchase = Act.Purchase(customer: "customer-\(number)", app: app.bundleID, product: product.id)
            _ = try store.perform(.buy(purchase))
        }
        self.app = app
        let sold = store.transactions.values.sorted { $0.id < $1.id }
        self.sold = sold
        payloads = sold.map { .transaction($0, of: app, signedAt: Samples.moment) }
    }

    func run() throws -> Section {
        let figures = try Measure().compare(
            Contender(name: "P-256 signature alone, OpenSSL") { _ in try raw.sign() },
            [
                Contender(name: "payload to text, header prepared") { index in
                    _ = try prepared.sign(payloads[index % payloads.count])
                },
                Contender(name: "transaction of the store to text") { index in
                    _ = try signer.transaction(sold[index % sold.count], of: app, at: Samples.moment)
                },
                Contender(name: "payload to text, header made each time") { index in
                    _ = try JWSSigner(chain).sign(payloads[index % payloads.count])
                },
            ]
        )
        return Section(
            "Signing a transaction as the simulated store does",
            figures,
            goal: "half of the rate of the signature alone, on one core"
        )
    }
}

/// OpenSSL and nothing else, with a context that is made once.
///
/// It is safe because it owns both objects, frees them at its end, and never hands them out.
@safe private final class RawSigning {
    private let key: OpaquePointer
    private let context: OpaquePointer
    private let hash = Digest.sha256(Array("a text".utf8))

    init(_ privateKey: PrivateKey) throws {
        let pem = try privateKey.pem()
        let key = unsafe pem.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let reader = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { unsafe BIO_free(reader) }
            return unsafe PEM_read_bio_PrivateKey(reader, nil, nil, nil)
        }
        guard let key = unsafe key, let context = unsafe EVP_PKEY_CTX_new(key, nil),
            unsafe EVP_PKEY_sign_init(context) == 1
        else { throw BenchmarkFailure("OpenSSL does not take the key") }
        unsafe self.key = key
        unsafe self.context = context
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(context)
        unsafe EVP_PKEY_free(key)
    }

    func sign() throws {
        let isDone = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 80) { buffer -> Bool in
            var length = buffer.count
            return unsafe EVP_PKEY_sign(context, buffer.baseAddress, &length, hash, hash.count) == 1
        }
        guard isDone else { throw BenchmarkFailure("OpenSSL does not sign") }
    }
}
