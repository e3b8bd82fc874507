import CCurl
import Glibc

/// The owner of one of libcurl's easy handles: a call in libcurl's terms. It lives on the loop's thread.
@safe
final class CurlEasy {
    let transfer: CurlTransfer
    let handle: UnsafeMutableRawPointer
    private let context: CurlContext
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var addresses: UnsafeMutablePointer<curl_slist>?

    /// `nil` when libcurl does not take an option, which only bad settings can bring about.
    init?(_ transfer: CurlTransfer, _ settings: CallerSettings) {
        guard let handle = unsafe curl_easy_init() else { return nil }
        self.transfer = transfer
        unsafe self.handle = unsafe handle
        context = CurlContext(transfer, settings)
        let isSet = setCall() && setAddresses(settings) && setLimits(settings) && setSinks() && setTrust(settings)
        guard isSet else { return nil }
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(fields)
        unsafe curl_slist_free_all(addresses)
    }

    /// Whose call a handle of libcurl's is.
    static func key(of handle: UnsafeMutableRawPointer) -> ObjectIdentifier? {
        var pointer: UnsafeMutableRawPointer?
        unsafe assay_curl_get_pointer(handle, &pointer)
        guard let pointer = unsafe pointer else { return nil }
        // Set in `setSinks`, and the object lives as long as the handle's owner.
        return unsafe ObjectIdentifier(Unmanaged<CurlContext>.fromOpaque(pointer).takeUnretainedValue().transfer)
    }

    func answer(_ code: CURLcode) -> CurlTransfer.Answer {
        if transfer.isTooLarge { return .failure(.tooLarge) }
        guard code == CURLE_OK || transfer.isCut else { return .failure(failure(code)) }
        return .success(transfer.response(number(CURLINFO_RESPONSE_CODE), from: remote))
    }

    private func failure(_ code: CURLcode) -> HTTPCallFailure {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: .unresolved
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxy
        // With a proxy nothing else is connected to.
        case CURLE_COULDNT_CONNECT:
            transfer.isAddressRefused ? .addressRefused : context.usesProxy ? .proxy : .unreachable
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_SHUTDOWN_FAILED:
            .tls
        case CURLE_GOT_NOTHING: .noResponse
        case CURLE_PARTIAL_FILE: .closedEarly
        // A proxy that answers CONNECT with a refusal ends in this error, too.
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR: number(CURLINFO_HTTP_CONNECTCODE) >= 300 ? .proxy : .connectionLost
        // The scheme was checked before: this is an answer in HTTP/0.9, or one that sends us to another scheme.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_BAD_CONTENT_ENCODING:
            .malformedResponse
        case CURLE_URL_MALFORMAT: .invalidCall
        case CURLE_TOO_MANY_REDIRECTS: .tooManyRedirects
        case CURLE_FILESIZE_EXCEEDED: .tooLarge
        default: .other(code: Int(code.rawValue))
        }
    }

    private func number(_ info: CURLINFO) -> Int {
        var value = 0
        unsafe assay_curl_get_long(handle, info, &value)
        return value
    }

    /// Whoever the connection led to, also one that was used before.
    private var remote: HTTPRemote {
        var text: UnsafeMutablePointer<CChar>?
        // The text is the handle's own, and is copied before the handle is used again.
        guard unsafe assay_curl_get_string(handle, CURLINFO_PRIMARY_IP, &text) == CURLE_OK, let text = unsafe text,
            let address = AddressBlock.address(unsafe String(cString: text))
        else { return .none }
        return HTTPRemote(address: address, port: UInt16(clamping: number(CURLINFO_PRIMARY_PORT)))
    }

    // MARK: Options

    private func setCall() -> Bool {
        let call = transfer.call
        guard set(CURLOPT_URL, call.url) else { return false }
        switch call.method {
        case .get where call.body.isEmpty: break
        case .head: guard set(CURLOPT_NOBODY, 1) else { return false }
        case .post: guard setBody(call.body) else { return false }
        default:
            guard call.body.isEmpty || setBody(call.body), set(CURLOPT_CUSTOMREQUEST, call.method.rawValue) else {
                return false
            }
        }
        var lines = call.fields.map { $0.value.isEmpty ? $0.name + ";" : $0.name + ": " + $0.value }
        // libcurl would wait for a "100 Continue", and call every body a form.
        for name in ["Expect", "Content-Type"] where call.fields[name] == nil { lines.append(name + ":") }
        for line in lines {
            // A failed append leaves the list as it was.
            guard let longer = unsafe curl_slist_append(fields, line) else { return false }
            unsafe fields = longer
        }
        return unsafe assay_curl_set_list(handle, CURLOPT_HTTPHEADER, fields) == CURLE_OK
    }

    private func setBody(_ body: [UInt8]) -> Bool {
        guard unsafe assay_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, Int64(body.count)) == CURLE_OK else {
            return false
        }
        // Copied before the call returns. An empty body needs a pointer all the same: without one libcurl would ask.
        return unsafe (body + [0]).withUnsafeBytes { bytes in
            unsafe assay_curl_set_pointer(
                handle,
                CURLOPT_COPYPOSTFIELDS,
                UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            ) == CURLE_OK
        }
    }

    /// Instead of what the system would answer for the name. The plus lets libcurl forget it like any other answer.
    private func setAddresses(_ settings: CallerSettings) -> Bool {
        guard let (host, port) = transfer.call.hostAndPort, let found = settings.addresses(host) else { return true }
        // Without an address libcurl would ask the system after all.
        guard !found.isEmpty else { return false }
        let line = "+\(host):\(port):" + found.joined(separator: ",")
        guard let list = unsafe curl_slist_append(nil, line) else { return false }
        unsafe addresses = list
        return unsafe assay_curl_set_list(handle, CURLOPT_RESOLVE, addresses) == CURLE_OK
    }

    private func setLimits(_ settings: CallerSettings) -> Bool {
        let timeout = transfer.call.timeout ?? settings.timeout
        return set(CURLOPT_NOSIGNAL, 1)
            && set(CURLOPT_CONNECTTIMEOUT_MS, CurlEasy.milliseconds(settings.connectTimeout))
            && set(CURLOPT_TIMEOUT_MS, CurlEasy.milliseconds(timeout))
            && set(CURLOPT_FOLLOWLOCATION, settings.redirectsMax > 0 ? 1 : 0)
            && set(CURLOPT_MAXREDIRS, max(0, settings.redirectsMax))
            && set(CURLOPT_PROTOCOLS_STR, "http,https")
            && set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
            // An empty text: whatever the environment says of proxies does not count.
            && set(CURLOPT_PROXY, settings.proxy ?? "")
            && set(CURLOPT_NOPROXY, "")
            && set(CURLOPT_HTTPPROXYTUNNEL, settings.tunnelsAlways ? 1 : 0)
            && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    private func setTrust(_ settings: CallerSettings) -> Bool {
        let isSet =
            set(CURLOPT_SSL_VERIFYPEER, 1) && set(CURLOPT_SSL_VERIFYHOST, 2)
            && set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
            && set(CURLOPT_PROXY_SSL_VERIFYPEER, 1) && set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
            && set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        // The system's authorities stay: they come out of its folder, which is another option.
        guard isSet, let file = settings.authoritiesFile else { return isSet }
        return set(CURLOPT_CAINFO, file) && set(CURLOPT_PROXY_CAINFO, file)
    }

    private func setSinks() -> Bool {
        // The context lives as long as this owner, and the callbacks run only while the handle does.
        let pointer = unsafe Unmanaged.passUnretained(context).toOpaque()
        let pointers = [CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA]
        for option in pointers {
            guard unsafe assay_curl_set_pointer(handle, option, pointer) == CURLE_OK else { return false }
        }
        return unsafe assay_curl_set_sink(handle, CURLOPT_WRITEFUNCTION, CurlContext.takeBody) == CURLE_OK
            && assay_curl_set_sink(handle, CURLOPT_HEADERFUNCTION, CurlContext.takeLine) == CURLE_OK
            && assay_curl_set_opener(handle, CurlContext.open) == CURLE_OK
    }

    private func set(_ option: CURLoption, _ value: Int) -> Bool {
        unsafe assay_curl_set_long(handle, option, value) == CURLE_OK
    }

    private func set(_ option: CURLoption, _ value: String) -> Bool {
        // Copied before the call returns.
        unsafe assay_curl_set_string(handle, option, value) == CURLE_OK
    }

    /// At least one: libcurl takes 0 for "no limit".
    private static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        let whole = seconds.multipliedReportingOverflow(by: 1_000)
        guard !whole.overflow else { return Int(Int32.max) }
        return Int(max(1, min(whole.partialValue + attoseconds / 1_000_000_000_000_000, Int64(Int32.max))))
    }
}
