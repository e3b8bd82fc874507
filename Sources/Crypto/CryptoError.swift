import COpenSSL

/// Why a cryptographic verb could not be carried out. A signature that does not fit is no error but `false`.
///
/// The texts are OpenSSL's own, for a person to read; nothing decides by them. No case is worth another try with the
/// same bytes.
package enum CryptoError: Error, Equatable, Sendable {
    /// The bytes are not what they should be: truncated, followed by others, or wrongly encoded.
    case malformed(String)
    /// Well formed, but of a kind that is not known here.
    case unsupported(String)
    /// OpenSSL refused to do it.
    case failed(String)
}

/// The calling thread's queue of OpenSSL's errors: emptied before a call, read right after it.
enum ErrorQueue {
    static func clear() { ERR_clear_error() }

    /// Everything in the queue as one line, oldest first, and empties it.
    static func text() -> String {
        var lines: [String] = []
        while lines.count < linesMax {
            let code = ERR_get_error()
            if code == 0 { break }
            // The reason is a constant of the library; it is copied at once.
            let reason = unsafe ERR_reason_error_string(code)
            lines.append(unsafe reason.map { unsafe String(cString: $0) } ?? "error \(code)")
        }
        ERR_clear_error()
        return lines.joined(separator: "; ")
    }

    /// OpenSSL keeps 16 errors a thread.
    private static let linesMax = 16
}
