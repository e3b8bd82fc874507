import PurchaseModel

/// Writes and finds certificates.
struct CertificateQueries {
    let connection: any SQLConnection

    private static let columns = """
        sha256, role, vouched_by, subject, issuer, serial, not_before, not_after, first_seen_at
        """
    private static let insert = Query(
        """
        INSERT INTO certificates (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (sha256) DO NOTHING
        """
    )
    private static let list = Query(
        "SELECT \(columns) FROM certificates ORDER BY first_seen_at DESC, sha256 LIMIT $1"
    )

    func list() throws(StoreFailure) -> [SeenCertificate] {
        try connection.rows(Self.list, [.integer(Int64(SeenCertificate.listedMax))]) { row in
            SeenCertificate(
                sha256: row.bytes(0),
                role: row.text(1),
                vouchedBy: row.text(2),
                subject: row.text(3),
                issuer: row.text(4),
                serial: row.text(5),
                notBefore: Timestamp(milliseconds: row.integer(6)),
                notAfter: Timestamp(milliseconds: row.integer(7)),
                firstSeenAt: Timestamp(milliseconds: row.integer(8))
            )
        }
    }

    func note(_ certificate: SeenCertificate) throws(StoreFailure) -> Bool {
        guard certificate.isStorable else { throw .unstorable }
        let values: [SQLValue] = [
            .bytes(certificate.sha256), .text(certificate.role), .text(certificate.vouchedBy),
            .text(certificate.subject), .text(certificate.issuer), .text(certificate.serial),
            .integer(certificate.notBefore.milliseconds), .integer(certificate.notAfter.milliseconds),
            .integer(certificate.firstSeenAt.milliseconds),
        ]
        return try connection.run(Self.insert, values) == 1
    }
}
