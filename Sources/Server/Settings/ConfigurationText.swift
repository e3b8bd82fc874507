import API
import AppStore
import Encoding
import Pipeline
import PurchaseModel

/// What is in force and who decided it, for `assay config print`. Secrets are not in the configuration; of their hashes
/// only the beginning is shown.
struct ConfigurationText {
    /// One value: its path, itself as JSON, and its origin.
    struct Line: Equatable, Sendable {
        let path: String
        let value: String
        let origin: SettingOrigin
    }

    let lines: [Line]

    init(_ configuration: Configuration) {
        var lines = Setting.allCases.map { setting in
            Line(
                path: setting.path,
                value: Self.value(of: setting, in: configuration),
                origin: configuration.origins[setting.path] ?? .standard
            )
        }
        let appsOrigin = configuration.origins["apps"] ?? .standard
        for (index, app) in configuration.apps.enumerated() {
            lines.append(contentsOf: Self.lines(app, at: "apps[\(index)]", appsOrigin))
        }
        let keysOrigin = configuration.origins["keys"] ?? .standard
        for (index, key) in configuration.keys.enumerated() {
            lines.append(contentsOf: Self.lines(key, at: "keys[\(index)]", keysOrigin))
        }
        self.lines = lines
    }

    /// One line for each value, in three columns.
    var text: String {
        let pathWidth = lines.map(\.path.utf8.count).max() ?? 0
        let valueWidth = lines.map(\.value.unicodeScalars.count).max() ?? 0
        return lines.map { line in
            line.path + String(repeating: " ", count: pathWidth - line.path.utf8.count + 2)
                + line.value + String(repeating: " ", count: valueWidth - line.value.unicodeScalars.count + 2)
                + line.origin.description + "\n"
        }.joined()
    }

    private static func lines(_ key: Configuration.Key, at path: String, _ origin: SettingOrigin) -> [Line] {
        func list(_ words: [String]) -> String { "[\(words.map(quoted).sorted().joined(separator: ", "))]" }
        let values: [(String, String)] = [
            ("name", quoted(key.name)), ("app", quoted(key.app.text)),
            ("secret_sha256", quoted(Hexadecimal.encode(key.sha256.prefix(4)) + "…")),
            ("kind", quoted(key.kind.rawValue)), ("scopes", list(key.scopes.map(\.rawValue))),
            ("environments", key.environments.map { list($0.map(\.rawValue)) } ?? "all of its app"),
        ]
        return values.map { Line(path: "\(path).\($0.0)", value: $0.1, origin: origin) }
    }

    private static func lines(_ app: Configuration.App, at path: String, _ origin: SettingOrigin) -> [Line] {
        let environments = app.environments.map { quoted($0.rawValue) }.joined(separator: ", ")
        let values: [(String, String)] = [
            ("id", quoted(app.id.text)), ("bundle_id", quoted(app.bundleID.text)),
            ("apple_id", app.appleID.map(String.init) ?? "any"), ("environments", "[\(environments)]"),
            ("accept_test_signed", "\(app.acceptsTestSigned)"), ("needs_orders", "\(app.delivery.needsOrders)"),
            ("history_at_first_proof", "\(app.readsHistory)"),
            ("binding", quoted(app.delivery.binding.rawValue)), ("sandbox", text(of: app.delivery.sandbox)),
            ("allow_negative_balance", "\(app.delivery.allowsNegativeBalance)"),
            ("consumption.answer", "\(app.consumption.answers)"),
            ("consumption.consent", quoted(app.consumption.consent.rawValue)),
            ("consumption.delay_minutes", "\(app.consumption.delay.components.seconds / 60)"),
            ("consumption.samples", samples(app.consumption)),
            ("consumption.refund_preference", app.consumption.preference.map { quoted($0.rawValue) } ?? "none"),
            ("app_store.notification_token", app.store.notificationToken == nil ? "none" : "set"),
            ("app_store.shared_secret", app.store.sharedSecret == nil ? "none" : "set"),
            ("customer_secret", app.customerSecret == nil ? "none" : "set"),
            ("app_store.issuer_id", app.store.key.map { quoted($0.issuer) } ?? "none"),
            ("app_store.key_id", app.store.key.map { quoted($0.id) } ?? "none"),
            ("app_store.hosts.api", quoted(app.store.hosts.serverAPIProduction)),
            ("app_store.hosts.api_sandbox", quoted(app.store.hosts.serverAPISandbox)),
            ("app_store.hosts.verify_receipt", quoted(app.store.hosts.verifyReceiptProduction)),
            ("app_store.hosts.verify_receipt_sandbox", quoted(app.store.hosts.verifyReceiptSandbox)),
        ]
        let lines = values.map { Line(path: "\(path).\($0.0)", value: $0.1, origin: origin) }
        guard let products = app.products else {
            return lines + [Line(path: "\(path).products", value: "any", origin: origin)]
        }
        return lines
            + products.enumerated().flatMap { index, product in
                Self.values(of: product).map { name, value in
                    Line(path: "\(path).products[\(index)].\(name)", value: value, origin: origin)
                }
            }
    }

    /// Those that are not what they are by themselves.
    private static func values(of product: ProductTerms) -> [(String, String)] {
        var values = [("id", quoted(product.product.text)), ("kind", quoted(product.kind.rawValue))]
        let goods = product.goods.map { goods in
            switch goods {
            case .entitlement(let id): quoted(id.text)
            case .amount(let amount, let currency): "\(amount) \(quoted(currency.text))"
            }
        }
        if !goods.isEmpty { values.append(("goods", "[\(goods.joined(separator: ", "))]")) }
        if let period = product.period { values.append(("period_days", "\(period.components.seconds / 86_400)")) }
        if product.isFamilyShared { values.append(("family_shared", "true")) }
        if product.deliversExpired { values.append(("deliver_expired", "true")) }
        if let binding = product.binding { values.append(("binding", quoted(binding.rawValue))) }
        return values
    }

    private static func samples(_ terms: ConsumptionTerms) -> String {
        guard !terms.sampleProducts.isEmpty else { return "\(terms.offersSamples)" }
        return "[\(terms.sampleProducts.sorted().map { quoted($0.text) }.joined(separator: ", "))]"
    }

    private static func text(of sandbox: SandboxRule) -> String {
        switch sandbox {
        case .recordOnly: quoted("record_only")
        case .customers(let customers): "[\(customers.sorted().map { quoted($0.text) }.joined(separator: ", "))]"
        case .everybody(let end): "everybody until \(RFC3339.text(milliseconds: end.milliseconds) ?? "never")"
        }
    }

    private static func value(of setting: Setting, in configuration: Configuration) -> String {
        switch setting.form {
        case .profile: quoted(configuration.profile.rawValue)
        case .address: quoted(configuration.listen.description)
        case .path(let place): quoted(configuration[keyPath: place])
        case .folder(let place): configuration[keyPath: place].map(quoted) ?? "none"
        case .whole(_, let place): String(configuration[keyPath: place])
        case .bool(let place): String(configuration[keyPath: place])
        case .words(_, let place, _): "[\(configuration[keyPath: place].map(quoted).joined(separator: ", "))]"
        case .database: configuration.database.url.map { quoted($0.description) } ?? "none"
        case .proxy: configuration.apple.proxy.map { quoted($0.description) } ?? "none"
        case .signingKey: configuration.answers.signingKeyFile.map(quoted) ?? "none"
        case .schema: quoted(configuration.database.schema)
        }
    }

    private static func quoted(_ text: String) -> String {
        let array = JSONWriter.array { $0.element(text) }
        return String(decoding: array.dropFirst().dropLast(), as: UTF8.self)
    }
}
