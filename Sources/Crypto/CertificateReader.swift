import COpenSSL

/// Takes a certificate apart with OpenSSL.
struct CertificateReader {
    let handle: SharedHandle

    init(der: [UInt8]) throws(CryptoError) {
        ErrorQueue.clear()
        var consumed = 0
        let certificate = unsafe withBytes(der.span) { start, count in
            var cursor: UnsafePointer<UInt8>? = unsafe start
            let certificate = unsafe d2i_X509(nil, &cursor, count)
            consumed = unsafe cursor.map { unsafe $0 - start } ?? 0
            return unsafe certificate
        }
        guard let certificate = unsafe certificate else { throw .malformed(ErrorQueue.text()) }
        unsafe self.init(owning: certificate)
        guard consumed == der.count else { throw .malformed("bytes after the certificate") }
        let encoded = unsafe handle.read { certificate in unsafe encodedBytes { unsafe i2d_X509(certificate, $0) } }
        guard encoded == der else { throw .malformed("not DER") }
    }

    init(owning certificate: OpaquePointer) {
        handle = unsafe SharedHandle(owning: certificate) { unsafe X509_free($0) }
    }

    static func isSigned(_ certificate: SharedHandle, by key: SharedHandle) -> Bool {
        unsafe certificate.read { certificate in
            unsafe key.read { key in
                let verdict = unsafe X509_verify(certificate, key)
                if verdict != 1 { ErrorQueue.clear() }
                return verdict == 1
            }
        }
    }

    func publicKey() throws(CryptoError) -> PublicKey {
        ErrorQueue.clear()
        // A new reference, which the handle then owns.
        guard let key = unsafe handle.read({ unsafe X509_get_pubkey($0) }) else {
            throw .unsupported(ErrorQueue.text())
        }
        return unsafe try PublicKey(SharedHandle(owning: key) { unsafe EVP_PKEY_free($0) })
    }

    func fields() throws(CryptoError) -> Certificate.Fields {
        try unsafe handle.read { certificate throws(CryptoError) in
            let subject = unsafe X509_get_subject_name(certificate)
            let issuer = unsafe X509_get_issuer_name(certificate)
            let flags = unsafe X509_get_extension_flags(certificate)
            guard flags & UInt32(EXFLAG_INVALID) == 0 else { throw .malformed("an extension cannot be read") }
            let usage = unsafe X509_get_key_usage(certificate)
            let pathLength = unsafe X509_get_pathlen(certificate)
            return try Certificate.Fields(
                subject: unsafe text(of: subject),
                issuer: unsafe text(of: issuer),
                subjectDER: unsafe der(of: subject),
                issuerDER: unsafe der(of: issuer),
                serial: unsafe serial(certificate),
                notBefore: unsafe milliseconds(X509_get0_notBefore(certificate)),
                notAfter: unsafe milliseconds(X509_get0_notAfter(certificate)),
                isCA: flags & UInt32(EXFLAG_CA) != 0,
                pathLength: pathLength >= 0 ? pathLength : nil,
                keyUsage: usage == UInt32.max ? nil : KeyUsage(rawValue: usage),
                subjectKeyID: unsafe bytes(of: X509_get0_subject_key_id(certificate)),
                authorityKeyID: unsafe bytes(of: X509_get0_authority_key_id(certificate)),
                extensions: unsafe extensions(certificate),
                signatureAlgorithm: unsafe signatureAlgorithm(certificate)
            )
        }
    }

    private func text(of name: OpaquePointer?) throws(CryptoError) -> String {
        guard let writer = unsafe BIO_new(BIO_s_mem()) else { throw .failed("out of memory") }
        defer { unsafe BIO_free(writer) }
        guard unsafe X509_NAME_print_ex(writer, name, 0, CertificateReader.nameStyle) >= 0 else {
            throw .malformed("a name cannot be read")
        }
        let count = Int(unsafe BIO_ctrl_pending(writer))
        // The buffer has room for all that waits in the writer.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { output, written in
            written = max(0, Int(unsafe BIO_read(writer, output.baseAddress, Int32(clamping: count))))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func der(of name: OpaquePointer?) throws(CryptoError) -> [UInt8] {
        guard let der = unsafe encodedBytes({ unsafe i2d_X509_NAME(name, $0) }) else {
            throw .malformed("a name cannot be read")
        }
        return der
    }

    private func serial(_ certificate: OpaquePointer) throws(CryptoError) -> [UInt8] {
        let number = unsafe X509_get0_serialNumber(certificate)
        // Tag, a length of one byte, and the content: RFC 5280 allows 20 bytes.
        guard let der = unsafe encodedBytes({ unsafe i2d_ASN1_INTEGER(number, $0) }), der.count > 2, der.count <= 129
        else {
            throw .malformed("the serial number cannot be read")
        }
        return [UInt8](der[2...])
    }

    private func milliseconds(_ time: UnsafePointer<ASN1_TIME>?) throws(CryptoError) -> Int64 {
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { throw .failed("out of memory") }
        defer { unsafe ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        // A missing time would be taken for now.
        guard unsafe time != nil, unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else {
            throw .malformed("a date cannot be read")
        }
        return (Int64(days) * 86_400 + Int64(seconds)) * 1_000
    }

    private func bytes(of string: UnsafePointer<ASN1_STRING>?) -> [UInt8]? {
        guard let string = unsafe string else { return nil }
        // Copied before the certificate can go away.
        return unsafe [UInt8](
            UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string)))
        )
    }

    private func extensions(_ certificate: OpaquePointer) throws(CryptoError) -> [CertificateExtension] {
        var extensions: [CertificateExtension] = []
        var seen: Set<[UInt8]> = []
        let count = unsafe X509_get_ext_count(certificate)
        guard count <= CertificateReader.extensionsMax else { throw .malformed("more extensions than any certificate") }
        for index in 0..<max(0, count) {
            let item = unsafe X509_get_ext(certificate, index)
            guard let oid = unsafe ObjectID.dotted(X509_EXTENSION_get_object(item)),
                let data = unsafe X509_EXTENSION_get_data(item)
            else { throw .malformed("an extension cannot be read") }
            guard seen.insert([UInt8](oid.utf8)).inserted else { throw .malformed("an extension stands twice") }
            // Copied before the certificate can go away.
            let value = unsafe [UInt8](
                UnsafeBufferPointer(start: ASN1_STRING_get0_data(data), count: Int(ASN1_STRING_length(data)))
            )
            let isCritical = unsafe X509_EXTENSION_get_critical(item) == 1
            extensions.append(CertificateExtension(oid: oid, isCritical: isCritical, value: value))
        }
        return extensions
    }

    private func signatureAlgorithm(_ certificate: OpaquePointer) throws(CryptoError) -> String {
        var algorithm: UnsafePointer<X509_ALGOR>?
        unsafe X509_get0_signature(nil, &algorithm, certificate)
        var object: OpaquePointer?
        unsafe X509_ALGOR_get0(&object, nil, nil, algorithm)
        guard let oid = unsafe ObjectID.dotted(object) else { throw .malformed("the signature's algorithm") }
        return oid
    }

    /// Apple's certificates have at most ten.
    private static let extensionsMax: Int32 = 64

    /// RFC 2253, ASCII only: composed here because its C macro is not visible from Swift.
    private static let nameStyle: UInt = {
        let escapes = ASN1_STRFLGS_ESC_2253 | ASN1_STRFLGS_ESC_CTRL | ASN1_STRFLGS_ESC_MSB | ASN1_STRFLGS_UTF8_CONVERT
        let dumps = ASN1_STRFLGS_DUMP_UNKNOWN | ASN1_STRFLGS_DUMP_DER
        return UInt(escapes | dumps)
            | UInt(XN_FLAG_SEP_COMMA_PLUS) | UInt(XN_FLAG_DN_REV) | UInt(XN_FLAG_DUMP_UNKNOWN_FIELDS)
    }()
}
