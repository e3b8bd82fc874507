/// What Kubernetes puts into the environment of every container for each service of the namespace: for one that is named `assay`,
/// or `assay-…`, the names begin like ours.
enum ServiceLink {
    private static let protocols = ["tcp", "udp", "sctp"]

    /// - Parameters:
    ///   - name: such as `ASSAY_SERVICE_HOST`, `ASSAY_SERVICE_PORT_HTTP`, `ASSAY_PORT` and `ASSAY_PORT_8080_TCP_ADDR`.
    ///   - value: of `ASSAY_PORT` a URL, such as `tcp://10.0.0.11:8080`. Any other is somebody's who took it for a setting.
    /// - Returns: whether Kubernetes named it.
    static func isOne(_ name: String, _ value: String) -> Bool {
        let words = name.utf8.split(separator: UInt8(ascii: "_")).map { String(decoding: $0, as: UTF8.self) }
        if words.last == "PORT", protocols.contains(where: { value.utf8.starts(with: "\($0)://".utf8) }) { return true }
        if words.suffix(2) == ["SERVICE", "HOST"] { return true }
        return words.indices.contains { index in
            let rest = words[index...]
            if rest.starts(with: ["SERVICE", "PORT"]) { return true }
            let next = Array(rest.prefix(3))
            return next.count == 3 && next[0] == "PORT" && UInt16(next[1]) != nil
                && protocols.contains(next[2].lowercased())
        }
    }
}
