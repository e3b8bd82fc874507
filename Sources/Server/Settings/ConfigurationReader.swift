import Crypto
import Encoding
import Pipeline
import PurchaseModel
import Storage

/// Puts a configuration together: each layer outdoes the one before, and each is checked whole.
struct ConfigurationReader {
    /// Names that begin like ours and are none of the server's: our tests find their samples by one, and take longer
    /// by another; two name the database servers beside them. Three are for who asks a server.
    private static let foreignNames: Set<String> = [
        "ASSAY_SERVER", "ASSAY_KEY", "ASSAY_KEY_FILE",
        "ASSAY_CORPUS", "ASSAY_SWEEP", "ASSAY_TEST_POSTGRES", "ASSAY_TEST_PGBOUNCER",
    ]
    private let files: SettingsFiles
    private(set) var configuration = Configuration()
    private(set) var faults: [ConfigurationFault] = []
    /// False when there should be a file and its text could not be had: then what it lacks cannot be told.
    private var isFileRead = true
    /// The ids of the apps that are there, faulty or not; `nil` where there is one, or may be, of which none can be read.
    private var appIDs: [String]? = []
    /// Whether it is for something that serves: then there must be apps and keys.
    private let isToServe: Bool

    init(files: SettingsFiles, isToServe: Bool) {
        self.files = files
        self.isToServe = isToServe
    }

    mutating func read(environment: [String: String], flags: [String: String]) {
        if let path = flags["config"] ?? environment["ASSAY_CONFIG"] { readFile(path) }
        readEnvironment(environment)
        for setting in Setting.allCases {
            guard let text = flags[setting.flag] else { continue }
            take(text, for: setting, from: .flag(setting.flag))
        }
        chooseLedger(flags)
        checkWhole()
    }

    /// A folder that is named on the command line is meant, whatever database stands elsewhere.
    private mutating func chooseLedger(_ flags: [String: String]) {
        guard flags[Setting.data.flag] != nil, flags[Setting.databaseURL.flag] == nil else { return }
        guard configuration.database.url != nil else { return }
        configuration.database.url = nil
        configuration.origins[Setting.databaseURL.path] = .flag(Setting.data.flag)
    }

    // MARK: - The file

    private mutating func readFile(_ path: String) {
        do throws(SettingsFiles.Fault) {
            let file = try files.read(path)
            var reader = MemberReader(.file(path))
            if let root = reader.document(file.bytes, at: "") {
                members(of: root, at: "", isWorldReadable: file.isWorldReadable, &reader)
            } else {
                (isFileRead, appIDs) = (false, nil)
            }
            faults.append(contentsOf: reader.faults)
        } catch {
            (isFileRead, appIDs) = (false, nil)
            faults.append(ConfigurationFault(origin: .file(path), path: "", message: "\(error)"))
        }
    }

    private mutating func members(
        of value: JSONValue,
        at path: String,
        isWorldReadable: Bool,
        _ reader: inout MemberReader
    ) {
        guard let object = reader.object(value, at: path, known: ConfigurationReader.members(at: path)) else { return }
        for (key, value) in object.members {
            let path = MemberReader.join(path, key)
            if let setting = Setting(rawValue: path) {
                take(value, for: setting, &reader)
                if isWorldReadable { refuseReadablePassword(setting, reader.origin) }
            } else if path == "apps" {
                takeApps(value, at: path, isWorldReadable: isWorldReadable, &reader)
            } else if path == "keys" {
                takeKeys(value, at: path, isWorldReadable: isWorldReadable, &reader)
            } else if !ConfigurationReader.members(at: path).isEmpty {
                members(of: value, at: path, isWorldReadable: isWorldReadable, &reader)
            }
        }
    }

    /// The names that may stand in the file at this path.
    private static func members(at path: String) -> [String] {
        let prefix = path.isEmpty ? "" : path + "."
        let inside = Setting.allCases.map(\.path).filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count) }
        var names = path.isEmpty ? ["apps", "keys"] : []
        for name in inside.map({ String($0.prefix { $0 != "." }) }) where !names.contains(name) { names.append(name) }
        return names
    }

    private mutating func takeApps(
        _ value: JSONValue,
        at path: String,
        isWorldReadable: Bool,
        _ reader: inout MemberReader
    ) {
        let secrets = SecretReader(files: files, isWorldReadable: isWorldReadable)
        configuration.apps = AppList(secrets: secrets).read(value, at: path, &reader)
        appIDs = AppList.ids(in: value)
        configuration.origins["apps"] = reader.origin
    }

    private mutating func takeKeys(
        _ value: JSONValue,
        at path: String,
        isWorldReadable: Bool,
        _ reader: inout MemberReader
    ) {
        let secrets = SecretReader(files: files, isWorldReadable: isWorldReadable)
        configuration.keys = KeyList(secrets: secrets).read(value, at: path, &reader)
        configuration.origins["keys"] = reader.origin
    }

    private mutating func take(_ value: JSONValue, for setting: Setting, _ reader: inout MemberReader) {
        if case .whole(let range, let place) = setting.form {
            guard value.kind == .number else { return reader.mistyped(value, at: setting.path, wanted: "a number") }
            guard let number = value.int64.flatMap(Int.init(exactly:)), range.contains(number) else {
                return reader.fault(setting.path, ConfigurationReader.outside(range))
            }
            configuration[keyPath: place] = number
            configuration.origins[setting.path] = reader.origin
        } else if case .bool(let place) = setting.form {
            guard let isSo = reader.bool(value, at: setting.path) else { return }
            configuration[keyPath: place] = isSo
            configuration.origins[setting.path] = reader.origin
        } else if let text = reader.text(value, at: setting.path) {
            take(text, for: setting, from: reader.origin)
        }
    }

    // MARK: - The environment and the flags

    private mutating func readEnvironment(_ environment: [String: String]) {
        let lists = ["ASSAY_APPS", "ASSAY_KEYS", "ASSAY_KEYS_FILE"] + Setting.withPassword.map(\.environmentFileName)
        let known = ["ASSAY_CONFIG"] + lists + Setting.allCases.map(\.environmentName)
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) {
            guard name.hasPrefix("ASSAY_"), !known.contains(name) else { continue }
            if ConfigurationReader.foreignNames.contains(name) || ServiceLink.isOne(name, value) { continue }
            let message = "unknown" + Suggestion.phrase(for: name, among: known)
            faults.append(ConfigurationFault(origin: .environment(name), path: "", message: message))
        }
        if let text = environment["ASSAY_APPS"] {
            var reader = MemberReader(.environment("ASSAY_APPS"))
            if let value = reader.document(Array(text.utf8), at: "apps") {
                takeApps(value, at: "apps", isWorldReadable: false, &reader)
            } else {
                appIDs = nil
            }
            faults.append(contentsOf: reader.faults)
        }
        readKeys(environment)
        for setting in Setting.allCases {
            guard let text = environment[setting.environmentName] else { continue }
            take(text, for: setting, from: .environment(setting.environmentName))
        }
        for setting in Setting.withPassword { readFile(of: setting, environment) }
    }

    private mutating func readFile(of setting: Setting, _ environment: [String: String]) {
        guard let path = environment[setting.environmentFileName] else { return }
        let origin = SettingOrigin.environment(setting.environmentFileName)
        if environment[setting.environmentName] != nil {
            return fault("only one of it and \(setting.environmentName) may be set", setting, origin)
        }
        do throws(SettingsFiles.Fault) {
            let file = try files.read(path)
            let end = file.bytes.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            let text = String(decoding: file.bytes.prefix((end ?? -1) + 1), as: UTF8.self)
            take(text, for: setting, from: origin)
            if file.isWorldReadable { refuseReadablePassword(setting, origin) }
        } catch {
            fault("\(path): \(error)", setting, origin)
        }
    }

    /// A password belongs where not every user of the machine sees it.
    private mutating func refuseReadablePassword(_ setting: Setting, _ origin: SettingOrigin) {
        let hasPassword =
            switch setting {
            case .databaseURL: configuration.database.url?.hasPassword
            case .appleProxy: configuration.apple.proxy?.hasPassword
            default: false
            }
        guard hasPassword == true else { return }
        fault("every user of this machine can read the password there; chmod 600 the file", setting, origin)
    }

    private mutating func readKeys(_ environment: [String: String]) {
        if let text = environment["ASSAY_KEYS"] {
            var reader = MemberReader(.environment("ASSAY_KEYS"))
            if environment["ASSAY_KEYS_FILE"] != nil {
                reader.fault("keys", "only one of it and ASSAY_KEYS_FILE may be set")
            }
            if let value = reader.document(Array(text.utf8), at: "keys") {
                takeKeys(value, at: "keys", isWorldReadable: false, &reader)
            }
            faults.append(contentsOf: reader.faults)
        } else if let path = environment["ASSAY_KEYS_FILE"] {
            var reader = MemberReader(.environment("ASSAY_KEYS_FILE"))
            do throws(SettingsFiles.Fault) {
                let file = try files.read(path)
                if let value = reader.document(file.bytes, at: "keys") {
                    takeKeys(value, at: "keys", isWorldReadable: file.isWorldReadable, &reader)
                }
            } catch {
                reader.fault("keys", "\(path): \(error)")
            }
            faults.append(contentsOf: reader.faults)
        }
    }

    /// Takes a text from anywhere; every form of setting can be written as one.
    private mutating func take(_ text: String, for setting: Setting, from origin: SettingOrigin) {
        switch setting.form {
        case .profile:
            guard let profile = Configuration.Profile(rawValue: text) else {
                let names = Configuration.Profile.allCases.map(\.rawValue)
                let message = "must be " + names.joined(separator: " or ") + Suggestion.phrase(for: text, among: names)
                return fault(message, setting, origin)
            }
            configuration.profile = profile
        case .address:
            guard let address = ListenAddress(text) else {
                return fault("must be an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080", setting, origin)
            }
            configuration.listen = address
        case .path(let place):
            guard !text.isEmpty else { return fault("must not be empty", setting, origin) }
            configuration[keyPath: place] = text
        case .folder(let place):
            guard !text.isEmpty, files.isFolder(text) else {
                return fault("must be a folder, and \"\(text)\" is none", setting, origin)
            }
            configuration[keyPath: place] = text
        case .bool(let place):
            guard let isSo = Bool(text) else { return fault("must be true or false", setting, origin) }
            configuration[keyPath: place] = isSo
        case .words(let what, let place, let isWord):
            let words = text.utf8.split(separator: UInt8(ascii: ",")).map { String(decoding: $0, as: UTF8.self) }
            guard words.allSatisfy(isWord) else { return fault("each must be \(what)", setting, origin) }
            configuration[keyPath: place] = words
        case .database: return takeDatabase(text, setting, origin)
        case .proxy: return takeProxy(text, setting, origin)
        case .signingKey: return takeSigningKey(text, setting, origin)
        case .schema:
            guard PostgreSQLSettings.isName(text) else {
                return fault("must be 1 to 63 small letters, digits and underscores", setting, origin)
            }
            configuration.database.schema = text
        case .whole(let range, let place):
            let isDecimal = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard isDecimal, let number = Int(text), range.contains(number) else {
                return fault(ConfigurationReader.outside(range), setting, origin)
            }
            configuration[keyPath: place] = number
        }
        configuration.origins[setting.path] = origin
    }

    private mutating func takeDatabase(_ text: String, _ setting: Setting, _ origin: SettingOrigin) {
        guard let url = DatabaseURL(text) else { return fault(DatabaseURL.such, setting, origin) }
        if url.hasPassword, isSeen(setting, origin) { return }
        configuration.database.url = url
        configuration.origins[setting.path] = origin
    }

    private mutating func takeProxy(_ text: String, _ setting: Setting, _ origin: SettingOrigin) {
        guard let url = ProxyURL(text) else { return fault(ProxyURL.such, setting, origin) }
        if url.hasPassword, isSeen(setting, origin) { return }
        configuration.apple.proxy = url
        configuration.origins[setting.path] = origin
    }

    /// A password on the command line is a fault.
    private mutating func isSeen(_ setting: Setting, _ origin: SettingOrigin) -> Bool {
        guard case .flag = origin else { return false }
        let file = setting.environmentFileName
        fault("every user of this machine sees a password there; use \(file)", setting, origin)
        return true
    }

    private mutating func takeSigningKey(_ path: String, _ setting: Setting, _ origin: SettingOrigin) {
        do throws(SettingsFiles.Fault) {
            let file = try files.read(path)
            guard !file.isWorldReadable else {
                return fault("every user of this machine can read \(path); chmod 600 it", setting, origin)
            }
            guard let key = try? Ed25519PrivateKey(pem: file.bytes) else {
                let command = "openssl genpkey -algorithm ed25519"
                return fault("\(path) is no Ed25519 key in PEM; \(command) makes one", setting, origin)
            }
            configuration.answers = Configuration.Answers(signingKeyFile: path, signingKey: key)
            configuration.origins[setting.path] = origin
        } catch {
            fault("\(path): \(error)", setting, origin)
        }
    }

    private mutating func fault(_ message: String, _ setting: Setting, _ origin: SettingOrigin) {
        faults.append(ConfigurationFault(origin: origin, path: setting.path, message: message))
    }

    private static func outside(_ range: ClosedRange<Int>) -> String {
        "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
    }
}

// MARK: - The whole

extension ConfigurationReader {
    /// What only shows when all layers are there.
    private mutating func checkWhole() {
        if isFileRead, isToServe {
            require("apps", such: #"[{"id": "shop", "bundle_id": "com.example.shop"}]"#)
            require("keys", such: #"[{"name": "backend", "app": "shop", "secret_file": "/run/secrets/assay"}]"#)
        }
        checkProfile()
        guard let origin = configuration.origins["keys"] else { return }
        checkApps(origin)
        checkSharedSecrets(origin)
    }

    /// Each key's app must be there; of one that is there and faulty that is told.
    private mutating func checkApps(_ origin: SettingOrigin) {
        guard let appIDs else { return }
        for key in configuration.keys where !appIDs.contains(key.app.text) {
            let message =
                "key \"\(key.name)\" is for app \"\(key.app)\", which is not configured"
                + Suggestion.phrase(for: key.app.text, among: appIDs)
            faults.append(ConfigurationFault(origin: origin, path: "\(key.path).app", message: message))
        }
    }

    /// An app's shared secret often stands in the app: a key that has it is everybody's who unpacks one, and may ask as
    /// Apple was asked with it, but no more.
    private mutating func checkSharedSecrets(_ origin: SettingOrigin) {
        for key in configuration.keys where key.scopes != [.verifyReceipt] {
            let app = configuration.apps.first { app in
                app.store.sharedSecret.map { Self.isSecret($0, of: key) } ?? false
            }
            guard let app else { continue }
            let message =
                "key \"\(key.name)\" has the shared secret of app \"\(app.id)\", which whoever unpacks the app may find; "
                + "give it a secret of its own, or else \"scopes\": [\"verify_receipt\"] and no other"
            faults.append(ConfigurationFault(origin: origin, path: key.secretPath, message: message))
        }
    }

    /// In whatever letters, since who finds one tries the other; of a key that only has its hash here, in small ones or in
    /// capitals.
    private static func isSecret(_ shared: [UInt8], of key: Configuration.Key) -> Bool {
        let capitals = shared.map { (digit: UInt8) in digit < UInt8(ascii: "a") ? digit : digit ^ 0x20 }
        let small = Digest.sha256(shared)
        return [small, Digest.sha256(capitals)].contains(key.sha256) || key.sharedSecretSHA256 == small
    }

    /// What a test authority signs costs nothing: where customers buy, it must not count.
    private mutating func checkProfile() {
        guard configuration.profile == .production, let origin = configuration.origins["apps"] else { return }
        for app in configuration.apps where app.acceptsTestSigned {
            let path = "\(app.path).accept_test_signed"
            let message = "must be false where profile is production: anybody's test purchase would count"
            faults.append(ConfigurationFault(origin: origin, path: path, message: message))
        }
    }

    private mutating func require(_ list: String, such example: String) {
        guard configuration.origins[list] == nil else { return }
        let message = "missing; give some in the file or in ASSAY_\(list.uppercased()), such as \(example)"
        faults.append(ConfigurationFault(origin: .standard, path: list, message: message))
    }
}
