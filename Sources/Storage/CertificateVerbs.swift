/// The questions about certificates.
package protocol CertificateReader {
    /// The certificates that were seen in chains that held, the newest first; at most ``SeenCertificate/listedMax``.
    func certificates() throws(StoreFailure) -> [SeenCertificate]
}

/// The inventory of certificates.
package protocol CertificateVerbs: CertificateReader {
    /// Notes a certificate.
    ///
    /// - Returns: false when it is known; then nothing is written.
    /// - Throws: ``StoreFailure/unstorable`` before anything is written.
    func noteCertificate(_ certificate: SeenCertificate) throws(StoreFailure) -> Bool
}
