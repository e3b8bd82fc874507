// The inventory of certificates: hands each verb to the file that knows its SQL.
extension SQLTransaction {
    func certificates() throws(StoreFailure) -> [SeenCertificate] {
        try CertificateQueries(connection: connection).list()
    }

    func noteCertificate(_ certificate: SeenCertificate) throws(StoreFailure) -> Bool {
        try CertificateQueries(connection: connection).note(certificate)
    }
}
