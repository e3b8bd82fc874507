import CCurl
import Glibc

/// What libcurl's callbacks are given: the call, and what it may cost.
@safe
final class CurlContext {
    let transfer: CurlTransfer
    private let settings: CallerSettings

    var usesProxy: Bool { settings.proxy != nil }

    init(_ transfer: CurlTransfer, _ settings: CallerSettings) {
        self.transfer = transfer
        self.settings = settings
    }

    static let takeBody: assay_curl_sink = { bytes, size, count, pointer in
        unsafe CurlContext.lend(bytes, size, count, pointer) { context, piece in
            context.transfer.take(
                body: piece,
                atMost: context.settings.responseBytesMax,
                isCuttable: context.settings.cutsBody
            )
        }
    }

    static let takeLine: assay_curl_sink = { bytes, size, count, pointer in
        unsafe CurlContext.lend(bytes, size, count, pointer) { context, line in
            context.transfer.take(line: line, atMost: context.settings.headerBytesMax)
        }
    }

    /// Opens the socket for an address that is allowed.
    static let open: assay_curl_opener = { pointer, purpose, address in
        guard let pointer = unsafe pointer, let address = unsafe address else { return -1 }
        // The owner of the handle holds the context.
        let context = unsafe Unmanaged<CurlContext>.fromOpaque(pointer).takeUnretainedValue()
        let wanted = unsafe address.pointee
        guard let remote = unsafe CurlContext.remote(address), context.settings.allows(remote) else {
            context.transfer.refuseAddress()
            return -1
        }
        return socket(wanted.family, wanted.socktype | Int32(SOCK_CLOEXEC.rawValue), wanted.protocol)
    }

    /// Lends what libcurl holds for the time of the call; any other number than all of it ends the transfer.
    private static func lend(
        _ bytes: UnsafeMutablePointer<CChar>?,
        _ size: Int,
        _ count: Int,
        _ pointer: UnsafeMutableRawPointer?,
        _ body: (CurlContext, Span<UInt8>) -> Bool
    ) -> Int {
        guard let bytes = unsafe bytes, let pointer = unsafe pointer else { return 0 }
        let context = unsafe Unmanaged<CurlContext>.fromOpaque(pointer).takeUnretainedValue()
        let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        let span = unsafe Span<UInt8>(_unsafeBytes: buffer)
        return body(context, span) ? size * count : 0
    }

    /// `nil` for what is neither IPv4 nor IPv6.
    private static func remote(_ address: UnsafeMutablePointer<curl_sockaddr>) -> HTTPRemote? {
        // libcurl's struct has room for any address at `addr`, and `addrlen` says how much of it is one.
        let raw = unsafe UnsafeRawPointer(address) + MemoryLayout<curl_sockaddr>.offset(of: \.addr).unsafelyUnwrapped
        switch unsafe (address.pointee.family, Int(address.pointee.addrlen)) {
        case (AF_INET, MemoryLayout<sockaddr_in>.size...):
            var found = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            let bytes = unsafe withUnsafeBytes(of: &found.sin_addr) { unsafe Array($0) }
            return HTTPRemote(address: bytes, port: UInt16(bigEndian: found.sin_port))
        case (AF_INET6, MemoryLayout<sockaddr_in6>.size...):
            var found = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
            let bytes = unsafe withUnsafeBytes(of: &found.sin6_addr) { unsafe Array($0) }
            return HTTPRemote(address: bytes, port: UInt16(bigEndian: found.sin6_port))
        default: return nil
        }
    }
}
