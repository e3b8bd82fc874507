extension MemoryTransaction {
    func certificates() -> [SeenCertificate] {
        Array(ledger.certificates.values.sorted(by: SeenCertificate.isListedBefore).prefix(SeenCertificate.listedMax))
    }

    func noteCertificate(_ certificate: SeenCertificate) throws(StoreFailure) -> Bool {
        guard certificate.isStorable else { throw .unstorable }
        guard ledger.certificates[certificate.sha256] == nil else { return false }
        put(certificate, at: \.certificates[certificate.sha256])
        return true
    }
}
