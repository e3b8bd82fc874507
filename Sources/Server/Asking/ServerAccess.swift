import HTTP

/// How a command that asks a running server reaches it, and what opens it. The key is never on the command line, where every
/// user of the machine reads it.
enum ServerAccess {
    /// Where the server is, and the file of its key.
    static let options: [CommandShape.Option] = [
        .init("server", value: "URL", "Where Assay is; ASSAY_SERVER, or \(APIClient.Side.server.usualBase)."),
        .init(
            "key-file",
            value: "FILE",
            "A file with the app's key; else ASSAY_KEY_FILE names it, or ASSAY_KEY is it."
        ),
    ]

    /// - Throws: ``UsageFault`` when there is no key, or its file cannot be read.
    static func client(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) -> APIClient {
        APIClient(
            .server,
            at: arguments.value("server") ?? environment["ASSAY_SERVER"],
            key: try key(arguments, environment),
            caller: CurlCaller(CallerSettings()).caller
        )
    }

    /// From the file that `--key-file` or `ASSAY_KEY_FILE` names, or from `ASSAY_KEY`; without what ends its line.
    private static func key(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) -> String {
        guard let path = arguments.value("key-file") ?? environment["ASSAY_KEY_FILE"] else {
            guard let key = environment["ASSAY_KEY"] else {
                throw UsageFault(
                    "the app's key is missing",
                    hint: "name its file with --key-file or ASSAY_KEY_FILE, or set ASSAY_KEY"
                )
            }
            return key
        }
        guard let bytes = try? SettingsFiles.disk.read(path).bytes else { throw UsageFault("\(path) cannot be read") }
        let isBlank = { (byte: UInt8) in byte <= 0x20 }
        let end = bytes.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? 0
        return String(decoding: bytes[..<end].drop(while: isBlank), as: UTF8.self)
    }
}
