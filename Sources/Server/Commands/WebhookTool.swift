import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `assay webhook`: an operator's way to sign and check messages without a server.
struct WebhookTool {
    /// A message has less than 20 kB; others' may be longer.
    private static let bytesMax = 4 << 20

    let files = SettingsFiles.disk
    let now: Timestamp

    /// - Returns: the exit code.
    func run(_ command: String, _ arguments: Arguments) throws(UsageFault) -> Int32 {
        let moment = try moment(arguments) ?? now
        return try command == "webhook sign" ? sign(arguments, moment) : verify(arguments, moment)
    }

    private func sign(_ arguments: Arguments, _ moment: Timestamp) throws(UsageFault) -> Int32 {
        let keys = try keys(arguments)
        guard keys.verifying.isEmpty else { throw UsageFault("--secret-file has a whpk_…, which does not sign") }
        guard let id = arguments.value("id").flatMap({ WebhookMessageID($0) }) else {
            throw UsageFault("--id is missing, or is no name: printable ASCII without spaces and full stops")
        }
        guard let body = WebhookTool.message() else { return WebhookTool.unreadable() }
        guard
            let fields = try? WebhookSignature.headers(
                id: id,
                timestamp: moment,
                body: body,
                secrets: keys.secrets,
                keys: keys.signing
            )
        else {
            Console.error("assay webhook: OpenSSL cannot sign")
            return 2
        }
        Console.write(fields.map { "\($0.name): \($0.value)\n" }.joined())
        return 0
    }

    private func verify(_ arguments: Arguments, _ moment: Timestamp) throws(UsageFault) -> Int32 {
        let keys = try keys(arguments)
        let fields = try fields(arguments)
        guard let body = WebhookTool.message() else { return WebhookTool.unreadable() }
        let verifier = WebhookVerifier(
            secrets: keys.secrets,
            keys: keys.verifying + keys.signing.map(\.verifyingKey)
        )
        do throws(WebhookFault) {
            let id = try verifier.check(fields, body: body, at: moment)
            Console.write("genuine: \(id)\n")
            return 0
        } catch {
            Console.write("refused: \(error.rawValue)\n")
            return 1
        }
    }

    // MARK: What is given

    private struct Keys {
        var secrets: [WebhookSecret] = []
        var signing: [WebhookSigningKey] = []
        var verifying: [WebhookVerifyingKey] = []
    }

    private func keys(_ arguments: Arguments) throws(UsageFault) -> Keys {
        var keys = Keys()
        for (number, line) in try lines(of: "secret-file", arguments).enumerated() {
            if let secret = WebhookSecret(text: line) {
                keys.secrets.append(secret)
            } else if let key = WebhookSigningKey(line) {
                keys.signing.append(key)
            } else if let key = WebhookVerifyingKey(line) {
                keys.verifying.append(key)
            } else {
                // The line may be a secret with a slip in it: it is not shown.
                throw UsageFault("--secret-file: the \(number + 1). text is no whsec_…, whsk_… or whpk_…")
            }
        }
        guard keys.secrets.count + keys.signing.count + keys.verifying.count > 0 else {
            throw UsageFault("--secret-file is empty")
        }
        return keys
    }

    private func fields(_ arguments: Arguments) throws(UsageFault) -> HTTPFields {
        var fields = HTTPFields()
        for line in try lines(of: "fields", arguments) {
            let letters = Array(line.utf8)
            // A request's first line, which has no colon, may stand before them.
            guard let colon = letters.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let value = letters[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
            fields.append(String(decoding: letters[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
        }
        return fields
    }

    /// The lines that are not blank, without what ends them.
    private func lines(of flag: String, _ arguments: Arguments) throws(UsageFault) -> [String] {
        guard let path = arguments.value(flag) else { throw UsageFault("--\(flag) is missing") }
        do throws(SettingsFiles.Fault) {
            let lines = try files.read(path).bytes.split { $0 == 0x0A || $0 == 0x0D }
            return lines.map { line in
                let end = line.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? line.startIndex
                return String(decoding: line[..<end].drop { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
            }.filter { !$0.isEmpty }
        } catch {
            throw UsageFault("--\(flag) \(path): \(error)")
        }
    }

    private func moment(_ arguments: Arguments) throws(UsageFault) -> Timestamp? {
        guard let text = arguments.value("at") else { return nil }
        guard let milliseconds = RFC3339.milliseconds(text) else {
            throw UsageFault("--at is a moment such as 2024-02-29T12:00:00Z")
        }
        return Timestamp(milliseconds: milliseconds)
    }

    private static func message() -> [UInt8]? {
        guard let bytes = try? OpenFile.standardInput.read(upTo: bytesMax + 1) else { return nil }
        return bytes.count > bytesMax ? nil : bytes
    }

    private static func unreadable() -> Int32 {
        Console.error("assay webhook: standard input cannot be read, or is longer than 4 MiB")
        return 2
    }
}
