import Crypto
import PurchaseModel
import Simulator

/// Signed tokens, no two alike, each posted once: what a server gets when many people buy at the same time.
final class Purchases {
    /// All tokens begin with the same header, which is kept once.
    private let header: [UInt8]
    private let rests: [[UInt8]]
    private var taken = 0

    /// Signs them all: some twenty thousand a second.
    init(_ samples: Samples, count: Int) throws {
        let dot = samples.tokens[0].firstIndex(of: UInt8(ascii: ".")) ?? 0
        let header = Array(samples.tokens[0][...dot])
        rests = try (0..<count).map { number in
            // Beyond those that the other benchmarks have.
            let token = try samples.signer.transaction(Samples.renewal(1_000 + number))
            let bytes = Array(token.utf8)
            guard bytes.starts(with: header) else { throw BenchmarkFailure("tokens with different headers") }
            return Array(bytes[header.count...])
        }
        self.header = header
    }

    /// The numbers of the next tokens; each is given out once.
    func take(_ count: Int) throws -> Range<Int> {
        guard count <= rests.count - taken else { throw BenchmarkFailure("not enough tokens were signed") }
        defer { taken += count }
        return taken..<taken + count
    }

    /// Appends a request that posts a token.
    func compose(_ number: Int, _ target: Target, into request: inout [UInt8]) {
        let customer = "customer-\(number)"
        let rest = rests[number]
        let length =
            target.beforeProof.count + header.count + rest.count + target.beforeCustomer.count
            + customer.utf8.count + 2
        request += target.head
        request += "\(length)\r\n\r\n".utf8
        request += target.beforeProof
        request += header
        request += rest
        request += target.beforeCustomer
        request += customer.utf8
        request += [UInt8(ascii: "\""), UInt8(ascii: "}")]
    }

    /// Appends a request that posts a bare number: Apple alone can say what it stands for.
    func composeNumber(_ number: Int, _ target: Target, into request: inout [UInt8]) {
        let text = "\(Samples.scattered(number, 7))"
        let customer = "customer-\(number)"
        let length =
            target.beforeProof.count + text.utf8.count + target.beforeCustomer.count + customer.utf8.count + 2
        request += target.head
        request += "\(length)\r\n\r\n".utf8
        request += target.beforeProof
        request += text.utf8
        request += target.beforeCustomer
        request += customer.utf8
        request += [UInt8(ascii: "\""), UInt8(ascii: "}")]
    }

    /// Where and in which words a server wants a purchase.
    struct Target {
        let head: [UInt8]
        let beforeProof = Array("{\"proof\":\"".utf8)
        let beforeCustomer: [UInt8]

        init(path: String, key: String?, customerMember: String) {
            let authorization = key.map { "Authorization: Bearer \($0)\r\n" } ?? ""
            head = Array(
                ("POST \(path) HTTP/1.1\r\nHost: localhost\r\n\(authorization)Content-Type: application/json\r\n"
                    + "Content-Length: ").utf8
            )
            beforeCustomer = Array("\",\"\(customerMember)\":\"".utf8)
        }
    }
}
