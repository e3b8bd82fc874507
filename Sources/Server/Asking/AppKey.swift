import Foundation

/// The key that a command opens a server with. Never on the command line, where every user of the machine reads it.
enum AppKey {
    /// From the file that `--key-file` or `ASSAY_KEY_FILE` names, or from `ASSAY_KEY`.
    ///
    /// - Returns: the key, without what ends its line.
    /// - Throws: ``UsageFault`` when there is none, or its file cannot be read.
    static func read(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) -> String {
        guard let path = arguments.value("key-file") ?? environment["ASSAY_KEY_FILE"] else {
            guard let key = environment["ASSAY_KEY"] else {
                throw UsageFault(
                    "the app's key is missing",
                    hint: "name its file with --key-file or ASSAY_KEY_FILE, or set ASSAY_KEY"
                )
            }
            return key
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw UsageFault("\(path) cannot be read")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
