import Crypto
import Encoding
import Pipeline
import PurchaseModel

/// Reads `keys`: who may call, each with a secret of which only the hash is kept.
struct KeyList {
    private static let secretMembers = ["secret", "secret_file", "secret_sha256"]
    static let known = ["name", "app", "kind", "scopes", "environments"] + secretMembers
    /// Shorter ones could be guessed; far longer ones the gate does not look at.
    private static let secretRange = 32...256

    let secrets: SecretReader

    /// What is well-formed of the list; the rest are faults.
    func read(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> [Configuration.Key] {
        var keys: [(path: String, key: Configuration.Key)] = []
        for (path, value) in reader.elements(value, at: path) {
            guard let key = self.key(value, at: path, &reader) else { continue }
            if let twin = keys.first(where: { $0.key.name == key.name }) {
                reader.fault("\(path).name", "\(twin.path) has the same")
            }
            if let twin = keys.first(where: { $0.key.sha256 == key.sha256 }) {
                reader.fault(path, "\(twin.path) has the same secret")
            }
            keys.append((path, key))
        }
        return keys.map(\.key)
    }

    private func key(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> Configuration.Key? {
        guard let object = reader.object(value, at: path, known: KeyList.known) else { return nil }
        let name = reader.required(object, "name", at: path).flatMap { value in
            let form = "1 to 64 printable ASCII characters that do not begin with dashboard/"
            return reader.identifier(value, at: "\(path).name", form, KeyList.name)
        }
        let app = reader.required(object, "app", at: path).flatMap { value in
            reader.identifier(value, at: "\(path).app", "the id of an app", AppID.init(_:))
        }
        let secret = self.secret(object, at: path, &reader)
        let kind = object["kind"].map { Self.kind($0, at: "\(path).kind", &reader) } ?? .secret
        let scopes = object["scopes"].flatMap { Self.scopes($0, of: kind, at: "\(path).scopes", &reader) }
        let environments = object["environments"].map { AppList.environments($0, at: "\(path).environments", &reader) }
        guard let name, let app, let secret else { return nil }
        var key = Configuration.Key(
            path: path,
            name: name,
            app: app,
            sha256: secret.sha256,
            secretPath: secret.path
        )
        key.sharedSecretSHA256 = secret.sharedSecretSHA256
        key.kind = kind
        key.environments = environments.map { Set($0) }
        key.scopes = scopes ?? kind.scopes(in: key.environments)
        return key
    }

    private static func kind(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> KeyKind {
        guard let text = reader.text(value, at: path) else { return .secret }
        guard let kind = KeyKind(rawValue: text) else {
            reader.fault(path, "must be publishable or secret")
            return .secret
        }
        return kind
    }

    private static func scopes(
        _ value: JSONValue,
        of kind: KeyKind,
        at path: String,
        _ reader: inout MemberReader
    ) -> Set<Scope>? {
        let known = kind.scopes.map(\.rawValue).sorted().joined(separator: ", ")
        var scopes: Set<Scope> = []
        let elements = reader.elements(value, at: path)
        if elements.isEmpty, value.kind == .array {
            let advice = "say what it may do, or leave out the key"
            reader.fault(path, "must not be empty: the key would open nothing; \(advice)")
        }
        for (path, value) in elements {
            guard let text = reader.text(value, at: path) else { continue }
            guard let scope = Scope(rawValue: text), kind.scopes.contains(scope) else {
                reader.fault(path, "must be one of \(known)")
                continue
            }
            scopes.insert(scope)
        }
        return scopes
    }

    /// What an operator calls a key: it stands in messages and log lines.
    private static func name(_ text: String) -> String? {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.hasPrefix(KeyWish.dashboardPrefix)
        else { return nil }
        return text
    }

    /// What is kept of a secret.
    private struct Secret {
        /// Of the member.
        let path: String
        let sha256: [UInt8]
        var sharedSecretSHA256: [UInt8]?
    }

    private func secret(_ object: JSONObject, at path: String, _ reader: inout MemberReader) -> Secret? {
        let given = KeyList.secretMembers.filter { object[$0] != nil }
        guard given.count == 1, let member = given.first, let value = object[member] else {
            let names = KeyList.secretMembers.joined(separator: ", ")
            reader.fault(path, given.isEmpty ? "one of \(names) is missing" : "only one of \(names) may be given")
            return nil
        }
        let path = "\(path).\(member)"
        guard let text = reader.text(value, at: path) else { return nil }
        switch member {
        case "secret_sha256": return hash(text, at: path, &reader)
        case "secret_file":
            return secrets.file(text, at: path, &reader).flatMap { hashed($0, at: path, &reader) }
        default: return secrets.plain(value, at: path, &reader).flatMap { hashed($0, at: path, &reader) }
        }
    }

    private func hash(_ text: String, at path: String, _ reader: inout MemberReader) -> Secret? {
        guard let bytes = Hexadecimal.decode(text), bytes.count == 32 else {
            reader.fault(path, "must be 64 hexadecimal digits")
            return nil
        }
        return Secret(path: path, sha256: bytes)
    }

    private func hashed(_ secret: [UInt8], at path: String, _ reader: inout MemberReader) -> Secret? {
        guard KeyList.secretRange.contains(secret.count) else {
            let range = "\(KeyList.secretRange.lowerBound) to \(KeyList.secretRange.upperBound)"
            reader.fault(path, "must have \(range) characters, not \(secret.count)")
            return nil
        }
        guard secret.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            reader.fault(path, "must be printable ASCII without spaces")
            return nil
        }
        let folded = AppStoreReader.sharedSecret(secret)
        return Secret(
            path: path,
            sha256: Digest.sha256(secret),
            sharedSecretSHA256: folded.map { Digest.sha256($0) }
        )
    }
}
