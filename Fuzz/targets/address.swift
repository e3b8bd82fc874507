import CCurl

/// Addresses of receivers, and blocks of addresses. What the rule lets pass, libcurl must understand as the rule did: it is
/// libcurl that calls. The code under test is compiled into this module, without the rest of HTTP.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAddress(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: fuzzInput(start, count), as: UTF8.self)
    if let block = AddressBlock(text) {
        precondition(AddressBlock(block.description) == block, "a block that is written as another")
        let address = AddressBlock.address(String(block.description.prefix { $0 != "/" }))
        precondition(address.map(block.contains) == true, "a block without its own address")
    }
    let rule = EgressRule(plainHosts: ["localhost", "shop.internal"])
    if (try? rule.check(url: text)) != nil { check(text, by: rule) }
    return 0
}

/// A URL that libcurl does not take leads nowhere.
private func check(_ text: String, by rule: EgressRule) {
    guard let url = CurlURL(text) else { return }
    let isTrusted = rule.plainHosts.contains(url[CURLUPART_HOST]?.lowercased() ?? "")
    let scheme = url[CURLUPART_SCHEME]
    precondition(scheme == "https" || scheme == "http" && isTrusted, "not a scheme that is allowed")
    let port = url[CURLUPART_PORT].flatMap(Int.init) ?? 443
    precondition(isTrusted || EgressRule.allows(port: port), "not a port that is allowed")
    for part in [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_FRAGMENT, CURLUPART_ZONEID] {
        precondition(url[part] == nil, "a part that no receiver's address has")
    }
}

/// A URL as libcurl takes it apart.
private final class CurlURL {
    private let handle: OpaquePointer

    init?(_ text: String) {
        guard let handle = curl_url() else { return nil }
        self.handle = handle
        guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
    }

    deinit { curl_url_cleanup(handle) }

    subscript(part: CURLUPart) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
