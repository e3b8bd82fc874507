/// Runs one of OpenSSL's `i2d_…` functions: once for the length, once for the bytes.
///
/// - Parameter encode: calls the function with the place where its cursor stands, `nil` to ask for the length.
/// - Returns: the DER, or `nil` when the function refused.
func encodedBytes(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
    let length = encode(nil)
    guard length > 0 else { return nil }
    var written: Int32 = 0
    // The function was just asked for its length, and the object is not changed in between: it fits.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
        var cursor = buffer.baseAddress
        written = unsafe encode(&cursor)
        count = written == length ? Int(length) : 0
    }
    return written == length ? bytes : nil
}

/// Lends bytes to a C function as the pointer and the length that it wants; never a null pointer.
func withBytes<Result>(
    _ bytes: Span<UInt8>,
    _ body: (UnsafePointer<UInt8>, Int) -> Result
) -> Result {
    unsafe bytes.withUnsafeBufferPointer { buffer in
        if let base = buffer.baseAddress { return unsafe body(base, buffer.count) }
        // An empty span may have no address; with a length of zero no byte is read from this one.
        return unsafe withUnsafePointer(to: UInt8(0)) { unsafe body($0, 0) }
    }
}
