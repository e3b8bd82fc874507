import COpenSSL

/// Issues certificates: for the simulator's own authority, and for tests.
///
/// What a certificate says is wholly the caller's: nothing is checked and nothing added, so that wrong certificates can
/// be made as well as right ones.
package struct CertificateIssuer: Sendable {
    package var name: DistinguishedName
    package var key: PrivateKey
    /// Of the certificates' signatures.
    package var digest: Digest

    package init(name: DistinguishedName, key: PrivateKey, digest: Digest) {
        self.name = name
        self.key = key
        self.digest = digest
    }

    /// What is to stand in a certificate beside its issuer.
    package struct Request: Sendable {
        package var subject: DistinguishedName
        package var publicKey: PublicKey
        /// Positive, big-endian, 1 to 20 bytes.
        package var serial: [UInt8]
        /// Milliseconds since 1970; written in whole seconds.
        package var notBefore: Int64
        package var notAfter: Int64
        package var extensions: [CertificateExtension]

        package init(
            subject: DistinguishedName,
            publicKey: PublicKey,
            serial: [UInt8],
            notBefore: Int64,
            notAfter: Int64,
            extensions: [CertificateExtension]
        ) {
            self.subject = subject
            self.publicKey = publicKey
            self.serial = serial
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.extensions = extensions
        }
    }

    /// Signs a certificate; the DER comes first, so that what ``Certificate`` would refuse can be made too.
    package func issueDER(_ request: Request) throws(CryptoError) -> [UInt8] {
        ErrorQueue.clear()
        guard let certificate = unsafe X509_new() else { throw .failed("out of memory") }
        defer { unsafe X509_free(certificate) }
        unsafe try fill(certificate, with: request)
        let length = unsafe key.handle.read { key in
            unsafe digest.method.read { method in unsafe X509_sign(certificate, key, method) }
        }
        guard length > 0, let der = unsafe encodedBytes({ unsafe i2d_X509(certificate, $0) }) else {
            throw .failed(ErrorQueue.text())
        }
        return der
    }

    package func issue(_ request: Request) throws(CryptoError) -> Certificate {
        try Certificate(der: issueDER(request))
    }

    private func fill(_ certificate: OpaquePointer, with request: Request) throws(CryptoError) {
        let versionThree = 2
        let serial = unsafe withBytes(request.serial.span) { start, count in
            unsafe BN_bin2bn(start, Int32(clamping: count), nil)
        }
        defer { unsafe BN_free(serial) }
        let isKeySet = unsafe request.publicKey.handle.read { unsafe X509_set_pubkey(certificate, $0) }
        guard unsafe X509_set_version(certificate, versionThree) == 1, isKeySet == 1, unsafe serial != nil,
            unsafe BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate)) != nil,
            unsafe ASN1_TIME_set(X509_getm_notBefore(certificate), Int(request.notBefore / 1_000)) != nil,
            unsafe ASN1_TIME_set(X509_getm_notAfter(certificate), Int(request.notAfter / 1_000)) != nil
        else { throw .failed(ErrorQueue.text()) }
        unsafe try add(request.subject, to: X509_get_subject_name(certificate))
        unsafe try add(name, to: X509_get_issuer_name(certificate))
        for item in request.extensions { unsafe try add(item, to: certificate) }
    }

    private func add(_ name: DistinguishedName, to target: OpaquePointer?) throws(CryptoError) {
        for attribute in name.attributes {
            let value = Array(attribute.value.utf8)
            let isAdded = unsafe withBytes(value.span) { start, count in
                unsafe X509_NAME_add_entry_by_txt(
                    target,
                    attribute.type,
                    CertificateIssuer.isUTF8,
                    start,
                    Int32(clamping: count),
                    -1,
                    0
                )
            }
            guard isAdded == 1 else { throw .failed(ErrorQueue.text()) }
        }
    }

    private func add(_ item: CertificateExtension, to certificate: OpaquePointer) throws(CryptoError) {
        guard let object = unsafe OBJ_txt2obj(item.oid, 1) else { throw .malformed(ErrorQueue.text()) }
        defer { unsafe ASN1_OBJECT_free(object) }
        guard let value = unsafe ASN1_OCTET_STRING_new() else { throw .failed("out of memory") }
        defer { unsafe ASN1_OCTET_STRING_free(value) }
        let isSet = unsafe withBytes(item.value.span) { start, count in
            unsafe ASN1_OCTET_STRING_set(value, start, Int32(clamping: count))
        }
        let created = unsafe X509_EXTENSION_create_by_OBJ(nil, object, item.isCritical ? 1 : 0, value)
        // The certificate takes a copy.
        defer { unsafe X509_EXTENSION_free(created) }
        guard isSet == 1, unsafe created != nil, unsafe X509_add_ext(certificate, created, -1) == 1 else {
            throw .failed(ErrorQueue.text())
        }
    }

    /// `MBSTRING_UTF8`, which is not visible from Swift.
    private static let isUTF8: Int32 = 0x1000
}
