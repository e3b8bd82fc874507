package import Storage

// The inventory of certificates.
extension PassingTransaction {
    package func certificates() throws(StoreFailure) -> [SeenCertificate] { try base.certificates() }

    package func noteCertificate(_ certificate: SeenCertificate) throws(StoreFailure) -> Bool {
        try base.noteCertificate(certificate)
    }
}
