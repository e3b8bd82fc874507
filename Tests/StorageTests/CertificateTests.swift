import PurchaseModel
import Storage
import Testing

/// The inventory of certificates.
@Suite struct CertificateTests {
    @Test(arguments: StoreKind.allCases)
    func eachIsNotedOnceAndTheNewestIsListedFirst(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let old = Self.certificate(1, seen: 10)
            let (new, twin) = (Self.certificate(3, seen: 20), Self.certificate(2, seen: 20))
            let again = Self.certificate(1, seen: 99, subject: "somebody else")
            let noted = try await store.write { write throws(StoreFailure) in
                try [old, new, twin, again].map { row throws(StoreFailure) in try write.noteCertificate(row) }
            }
            #expect(noted == [true, true, true, false])
            let listed = try await store.read { reader throws(StoreFailure) in try reader.certificates() }
            #expect(listed == [twin, new, old])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatNoStoreCanHoldIsRefused(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let long = String(repeating: "x", count: 5_000)
            for subject in ["with\0NUL", long] {
                let row = Self.certificate(1, seen: 1, subject: subject)
                await #expect(throws: StoreFailure.unstorable) {
                    _ = try await store.write { write throws(StoreFailure) in try write.noteCertificate(row) }
                }
            }
            let listed = try await store.read { reader throws(StoreFailure) in try reader.certificates() }
            #expect(listed.isEmpty)
        }
    }

    private static func certificate(_ number: UInt8, seen moment: Int64, subject: String = "CN=Prod") -> SeenCertificate
    {
        SeenCertificate(
            sha256: [UInt8](repeating: number, count: 32),
            role: "leaf",
            vouchedBy: "apple",
            subject: subject,
            issuer: "CN=Worldwide Developer Relations",
            serial: "0a1b",
            notBefore: Timestamp(milliseconds: 1),
            notAfter: Timestamp(milliseconds: 2),
            firstSeenAt: Timestamp(milliseconds: moment)
        )
    }
}
