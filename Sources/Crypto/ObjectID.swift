import COpenSSL

/// An ASN.1 object identifier, between its dotted text and OpenSSL's object.
struct ObjectID {
    let dotted: String
    /// With tag and length.
    let der: [UInt8]

    init(dotted: String) throws(CryptoError) {
        ErrorQueue.clear()
        guard let object = unsafe OBJ_txt2obj(dotted, 1) else { throw .malformed(ErrorQueue.text()) }
        defer { unsafe ASN1_OBJECT_free(object) }
        guard let der = unsafe encodedBytes({ unsafe i2d_ASN1_OBJECT(object, $0) }) else {
            throw .malformed(ErrorQueue.text())
        }
        self.dotted = dotted
        self.der = der
    }

    /// The dotted text of an object that OpenSSL holds; `nil` when it is longer than any that is known.
    static func dotted(_ object: OpaquePointer?) -> String? {
        guard let object = unsafe object else { return nil }
        // OpenSSL is told the room, ends the text with a zero byte, and answers how long it would have been.
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: textMax) { buffer in
            let length = unsafe OBJ_obj2txt(buffer.baseAddress, Int32(textMax), object, 1)
            guard length > 0, length < textMax, let base = buffer.baseAddress else { return nil }
            return unsafe String(cString: base)
        }
    }

    private static let textMax = 256
}
