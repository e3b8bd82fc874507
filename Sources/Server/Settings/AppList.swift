import Encoding
import PurchaseModel

/// Reads `apps`: which apps are answered for, and what each accepts.
struct AppList {
    static let known =
        [
            "id", "bundle_id", "apple_id", "environments", "products", "accept_test_signed", "app_store",
            "customer_secret", "customer_secret_file", "consumption", "history_at_first_proof",
        ]
        + DeliveryReader.known

    /// Shorter ones could be guessed.
    private static let secretRange = 32...1_024

    let secrets: SecretReader

    /// What is well-formed of the list; the rest are faults.
    func read(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> [Configuration.App] {
        var apps: [(path: String, app: Configuration.App)] = []
        let elements = reader.elements(value, at: path)
        if elements.isEmpty, value.kind == .array { reader.fault(path, "must not be empty") }
        for (path, value) in elements {
            guard let app = app(value, at: path, &reader) else { continue }
            if let twin = apps.first(where: { $0.app.id == app.id }) {
                reader.fault("\(path).id", "\(twin.path) has the same")
            }
            if let twin = apps.first(where: { Self.haveSamePurchases($0.app, app) }) {
                reader.fault("\(path).bundle_id", "\(twin.path) has the same; a purchase would count twice")
            }
            if let twin = apps.first(where: { $0.app.notificationName == app.notificationName }), twin.app.id != app.id
            {
                let own = "\(path).app_store.notification_token"
                reader.fault(own, "\(twin.path) has the same, or is called so: one of them would get no notification")
            }
            apps.append((path, app))
        }
        return apps.map(\.app)
    }

    /// The ids of all that are in the list, also of those that are faulty otherwise; `nil` where one has none that can be read,
    /// since it may be any.
    static func ids(in value: JSONValue) -> [String]? {
        guard let array = value.array else { return nil }
        var ids: [String] = []
        for element in array {
            guard let text = element.object?["id"]?.string, appID(text) != nil else { return nil }
            ids.append(text)
        }
        return ids
    }

    /// Whether some store's purchases would be of both. Apps of one bundle id may have a store each.
    private static func haveSamePurchases(_ one: Configuration.App, _ other: Configuration.App) -> Bool {
        one.bundleID == other.bundleID && !Set(one.environments).isDisjoint(with: other.environments)
    }

    private func app(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> Configuration.App? {
        guard let object = reader.object(value, at: path, known: Self.known) else { return nil }
        let id = reader.required(object, "id", at: path).flatMap { value in
            let what = "1 to 64 letters, digits, \"-\", \"_\" or \".\", and neither . nor .."
            return reader.identifier(value, at: "\(path).id", what, Self.appID)
        }
        let bundleID = reader.required(object, "bundle_id", at: path).flatMap { value in
            reader.identifier(value, at: "\(path).bundle_id", "1 to 255 printable ASCII characters", BundleID.init(_:))
        }
        let appleID = object["apple_id"].flatMap { Self.appleID($0, at: "\(path).apple_id", &reader) }
        let environments = object["environments"].map { Self.environments($0, at: "\(path).environments", &reader) }
        let acceptsTestSigned = object["accept_test_signed"].flatMap { value in
            reader.bool(value, at: "\(path).accept_test_signed")
        }
        if acceptsTestSigned != true, let environments {
            Self.checkTests(environments, at: "\(path).environments", &reader)
        }
        let products = object["products"].map { Catalogue.read($0, at: "\(path).products", &reader) }
        let store = object["app_store"].map { value in
            AppStoreReader(secrets: secrets).read(value, at: "\(path).app_store", &reader)
        }
        let readsHistory = object["history_at_first_proof"].map { value in
            Self.readsHistory(value, store, at: "\(path).history_at_first_proof", &reader)
        }
        let delivery = DeliveryReader.read(object, at: path, &reader)
        let consumption = object["consumption"].map { value in
            ConsumptionReader.read(value, at: "\(path).consumption", &reader)
        }
        let customerSecret = secrets.read("customer_secret", of: object, at: path, &reader)
        if let customerSecret, !Self.secretRange.contains(customerSecret.count) {
            let range = "\(Self.secretRange.lowerBound) to \(Self.secretRange.upperBound)"
            reader.fault("\(path).customer_secret", "must have \(range) bytes, not \(customerSecret.count)")
        }
        guard let id, let bundleID else { return nil }
        var app = Configuration.App(path: path, id: id, bundleID: bundleID)
        app.appleID = appleID
        app.environments = environments ?? app.environments
        app.products = products
        app.acceptsTestSigned = acceptsTestSigned ?? false
        app.delivery = delivery
        app.consumption = consumption ?? app.consumption
        app.store = store ?? app.store
        app.readsHistory = readsHistory ?? false
        app.customerSecret = customerSecret
        return app
    }

    /// Histories are the Server API's, which answers nobody without a key.
    private static func readsHistory(
        _ value: JSONValue,
        _ store: Configuration.AppStore?,
        at path: String,
        _ reader: inout MemberReader
    ) -> Bool {
        let isWanted = reader.bool(value, at: path) ?? false
        if isWanted, store?.key == nil {
            reader.fault(path, "needs app_store.issuer_id, key_id and private_key_file, with which Apple is asked")
        }
        return isWanted
    }

    /// Stricter than the type: the id stands in paths and in log lines.
    private static func appID(_ text: String) -> AppID? {
        let isOfID = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ".")].contains(byte)
        }
        let isID = (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(isOfID)
        // A step of a path, and no name in it: nothing that Apple sends would arrive.
        return isID && text != "." && text != ".." ? AppID(text) : nil
    }

    private static func appleID(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> Int64? {
        guard value.kind == .number else {
            reader.mistyped(value, at: path, wanted: "a number")
            return nil
        }
        guard let number = value.int64, number > 0 else {
            reader.fault(path, "must be a whole number above 0")
            return nil
        }
        return number
    }

    static func environments(
        _ value: JSONValue,
        at path: String,
        _ reader: inout MemberReader
    ) -> [StoreEnvironment] {
        let names = StoreEnvironment.known.map(\.rawValue)
        var environments: [StoreEnvironment] = []
        let elements = reader.elements(value, at: path)
        for (path, value) in elements {
            guard let name = reader.text(value, at: path) else { continue }
            guard names.contains(name) else {
                reader.fault(path, MemberReader.oneOf(names) + Suggestion.phrase(for: name, among: names))
                continue
            }
            if environments.contains(StoreEnvironment(rawValue: name)) { reader.fault(path, "stands there twice") }
            environments.append(StoreEnvironment(rawValue: name))
        }
        if elements.isEmpty, value.kind == .array { reader.fault(path, "must not be empty: nothing would be accepted") }
        return environments
    }

    /// What Xcode signs, it signs with a certificate of its own.
    private static func checkTests(
        _ environments: [StoreEnvironment],
        at path: String,
        _ reader: inout MemberReader
    ) {
        for environment in environments where [.xcode, .localTesting].contains(environment) {
            reader.fault(path, "\(environment) purchases are only accepted where accept_test_signed is true")
        }
    }
}
