import Crypto
import TestSupport
import Testing

/// Apple's own certificates, where the corpus is at hand.
@Suite(.enabled(if: Corpus.isPresent, "\(Corpus.absenceNote)"))
struct AppleCertificateTests {
    private static func certificates() throws -> [(file: String, certificate: Certificate)] {
        try ["roots", "certificates"].flatMap { folder in
            try Corpus.files(in: folder).filter { $0.hasSuffix(".der") }.map { file in
                (file, try Certificate(der: try Corpus.bytes(folder + "/" + file)))
            }
        }
    }

    @Test func allAreReadAndAreWhatTheyAre() throws {
        let all = try Self.certificates()
        #expect(all.count >= 28)
        for (file, certificate) in all {
            let fields = certificate.fields
            #expect(fields.subject.contains("O=Apple"), "\(file): \(fields.subject)")
            #expect(fields.notBefore < fields.notAfter, "\(file)")
            #expect(fields.notBefore > 1_100_000_000_000, "\(file)")
            #expect(certificate.publicKey.kind != .other, "\(file)")
            #expect(!fields.serial.isEmpty, "\(file)")
        }
    }

    @Test func allButRootsAreSignedBySomeoneAmongThem() throws {
        let all = try Self.certificates().map(\.certificate)
        for certificate in all {
            let issuers = all.filter {
                $0.fields.subjectDER == certificate.fields.issuerDER && certificate.isSigned(by: $0)
            }
            #expect(!issuers.isEmpty, "\(certificate.fields.subject)")
            #expect(issuers.allSatisfy { $0.fields.isCA }, "\(certificate.fields.subject)")
        }
    }

    @Test func leavesHaveTheirMarkerAndNoAuthority() throws {
        for (file, certificate) in try Self.certificates() where file.hasPrefix("Mac-App-Store") {
            #expect(certificate.hasExtension("1.2.840.113635.100.6.11.1"), "\(file)")
            #expect(!certificate.fields.isCA, "\(file)")
            #expect(certificate.fields.keyUsage == .digitalSignature, "\(file)")
        }
    }
}
