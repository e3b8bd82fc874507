import AppleFormats
import Crypto
import Encoding
import PurchaseModel
import Simulator
import Verification

/// What verifying costs beside the one thing that cannot be left out: the check of the signature.
struct VerifyBenchmark {
    let samples: Samples
    let measure = Measure()

    /// StoreKit 2: verified, decoded and turned into a transaction, with the chain known.
    func tokens() throws -> Section {
        let key = try samples.authority.chain(.jws).signer.publicKey
        let raw = try samples.tokens.map { try RawSignature(key, token: $0) }
        let verifier = try samples.verifier()
        let tokens = samples.tokens
        let figures = try measure.compare(
            Contender(name: "P-256 signature alone, OpenSSL") { try raw[$0 % raw.count].check() },
            [
                Contender(name: "SHA-256 and P-256 signature, OpenSSL") { try raw[$0 % raw.count].hashAndCheck() },
                Contender(name: "examine: proved, decoded, translated") { index in
                    let examination = verifier.examine(tokens[index % tokens.count], expecting: Samples.expectation)
                    guard examination.proof?.fact.transactions.count == 1 else {
                        throw BenchmarkFailure("refused: \(examination.report.reason)")
                    }
                },
            ]
        )
        return Section(
            "StoreKit 2 tokens, \(tokens[0].count) bytes",
            figures,
            goal: "proving a token reaches 90 % of the rate of the signature alone, on one core"
        )
    }

    /// What `examine` does with a token, step by step, as far as the steps can be called from outside.
    func steps() throws -> Section {
        let key = try samples.authority.chain(.jws).signer.publicKey
        let raw = try samples.tokens.map { try RawSignature(key, token: $0) }
        let tokens = samples.tokens
        let opened = try tokens.map { token in try CompactJWS(token) }
        let payloads = try opened.map { token in try token.payloadBytes() }
        let documents = try payloads.map { bytes in try JSONDocument.ofApple(bytes) }
        let hashed = DigestPrefix(.sha256, of: opened[0].signingPrefix.span)
        let digests = opened.map { token in
            let segment = token.payloadSegment
            return hashed.hash(appending: segment.span)
        }
        let signatures = try opened.map { token in try token.signature() }
        let count = tokens.count
        let figures = try measure.compare(
            Contender(name: "P-256 signature alone, OpenSSL") { try raw[$0 % count].check() },
            [
                Contender(name: "find the dots") { _ = try CompactJWS(tokens[$0 % count]) },
                Contender(name: "base64 of the payload") { _ = try opened[$0 % count].payloadBytes() },
                Contender(name: "JSON") { _ = try JSONDocument.ofApple(payloads[$0 % count]) },
                Contender(name: "fields") { _ = try TransactionPayload(documents[$0 % count]) },
                Contender(name: "SHA-256 of the payload") { index in
                    let segment = opened[index % count].payloadSegment
                    var digest = InlineArray<32, UInt8>(repeating: 0)
                    var room = digest.mutableSpan
                    hashed.hash(appending: segment.span, into: &room)
                },
                Contender(name: "base64 of the signature") { index in
                    var signature = InlineArray<64, UInt8>(repeating: 0)
                    var room = signature.mutableSpan
                    try opened[index % count].decodeSignature(into: &room)
                },
                Contender(name: "P-256 signature") { index in
                    let signature = signatures[index % count]
                    let digest = digests[index % count]
                    guard key.isValidES256(signature: signature.span, digest: digest.span) else {
                        throw BenchmarkFailure("a good signature was refused")
                    }
                },
            ]
        )
        return Section("Steps of proving a token of \(payloads[0].count) bytes", figures, goal: "to see where it goes")
    }

    /// App receipts with more and more purchases.
    func receipts() throws -> [Section] {
        let key = try samples.authority.chain(.receiptSHA256).signer.publicKey
        let verifier = try samples.verifier()
        return try [1, 10, 100, 500].map { purchases in
            let receipt = try samples.receipt(purchases: purchases)
            let raw = try RawSignature(key, receipt: receipt)
            let figures = try measure.compare(
                Contender(name: "SHA-256 and RSA-2048 signature, OpenSSL") { _ in try raw.hashAndCheck() },
                [
                    Contender(name: "examine: proved, decoded, translated") { _ in
                        let examination = verifier.examine(receipt, expecting: Samples.expectation)
                        guard examination.proof?.fact.transactions.count == purchases else {
                            throw BenchmarkFailure("refused: \(examination.report.reason)")
                        }
                    }
                ]
            )
            return Section(
                "App receipt, \(purchases) purchases, \(receipt.count) bytes",
                figures,
                goal: purchases <= 10 ? "at most 1.15 times the signature" : "at most 1.45 times the signature"
            )
        }
    }
}
