import AppStore
import Encoding

/// Reads `app_store`: how Apple is asked about an app's purchases, and where it sends what happens to them.
struct AppStoreReader {
    static let known = [
        "notification_token", "notification_token_file", "shared_secret", "shared_secret_file", "issuer_id", "key_id",
        "private_key", "private_key_file", "hosts",
    ]
    static let hosts = ["api", "api_sandbox", "verify_receipt", "verify_receipt_sandbox"]
    /// Shorter ones could be guessed; it stands in a path, unescaped.
    private static let tokenRange = 16...128

    let secrets: SecretReader

    func read(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> Configuration.AppStore {
        var settings = Configuration.AppStore()
        guard let object = reader.object(value, at: path, known: Self.known) else { return settings }
        if let token = secrets.read("notification_token", of: object, at: path, &reader) {
            settings.notificationToken = self.token(token, at: "\(path).notification_token", &reader)
        }
        if let secret = secrets.read("shared_secret", of: object, at: path, &reader) {
            settings.sharedSecret = Self.sharedSecret(secret)
            if settings.sharedSecret == nil {
                reader.fault("\(path).shared_secret", "must be 32 hexadecimal digits, as App Store Connect shows them")
            }
        }
        settings.key = key(object, at: path, &reader)
        if let hosts = object["hosts"] { settings.hosts = self.hosts(hosts, at: "\(path).hosts", &reader) }
        return settings
    }

    /// A shared secret in small letters, as App Store Connect shows it and Apple sends it; `nil` for what is none.
    static func sharedSecret(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == 32, bytes.allSatisfy({ Hexadecimal.value(of: $0) != nil }) else { return nil }
        // Of a digit this bit is set.
        return bytes.map { $0 | 0x20 }
    }

    private func token(_ bytes: [UInt8], at path: String, _ reader: inout MemberReader) -> String? {
        let isPlain = bytes.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                || [UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
        }
        guard isPlain, Self.tokenRange.contains(bytes.count) else {
            let range = "\(Self.tokenRange.lowerBound) to \(Self.tokenRange.upperBound)"
            reader.fault(path, "must be \(range) letters, digits, \"-\" or \"_\"")
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// All of it or nothing.
    private func key(
        _ object: JSONObject,
        at path: String,
        _ reader: inout MemberReader
    ) -> Configuration.AppStore.Key? {
        let pem = secrets.read("private_key", of: object, at: path, &reader)
        let names = ["issuer_id", "key_id"]
        let isGiven = names.contains { object[$0] != nil } || pem != nil
        guard isGiven else { return nil }
        let texts = names.map { name in
            reader.required(object, name, at: path).flatMap { value in
                reader.identifier(value, at: "\(path).\(name)", "1 to 64 printable ASCII characters", Self.name)
            }
        }
        guard let pem else {
            if object["private_key"] == nil, object["private_key_file"] == nil {
                reader.fault("\(path).private_key_file", "missing")
            }
            return nil
        }
        guard let issuer = texts[0], let id = texts[1] else { return nil }
        let member = object["private_key"] == nil ? "private_key_file" : "private_key"
        return Configuration.AppStore.Key(issuer: issuer, id: id, pem: pem, path: "\(path).\(member)")
    }

    private static func name(_ text: String) -> String? {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
    }

    /// Another place than Apple's: a simulated store, or a proxy.
    private func hosts(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> AppStoreHosts {
        var found = AppStoreHosts.apple
        guard let object = reader.object(value, at: path, known: Self.hosts) else { return found }
        let places: [(String, WritableKeyPath<AppStoreHosts, String>)] = [
            ("api", \.serverAPIProduction), ("api_sandbox", \.serverAPISandbox),
            ("verify_receipt", \.verifyReceiptProduction), ("verify_receipt_sandbox", \.verifyReceiptSandbox),
        ]
        for (name, place) in places {
            guard let value = object[name] else { continue }
            let url = reader.identifier(
                value,
                at: "\(path).\(name)",
                "an http or https URL that does not end with a slash, such as https://api.storekit.apple.com",
                Self.place
            )
            if let url { found[keyPath: place] = url }
        }
        return found
    }

    private static func place(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.count <= 255, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            let scheme = ["https://", "http://"].first(where: { bytes.starts(with: $0.utf8) })
        else { return nil }
        let rest = bytes.dropFirst(scheme.utf8.count)
        let isPlain = rest.first != UInt8(ascii: "/") && rest.last != UInt8(ascii: "/")
        return !rest.isEmpty && isPlain && rest.allSatisfy { !"?#@".utf8.contains($0) } ? text : nil
    }
}
