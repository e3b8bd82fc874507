import AppStore
import Crypto
import Encoding
import HTTP
import PurchaseModel
import Testing

@testable import Server

@Suite struct ConfigurationTests {
    static let secret = "0123456789abcdef0123456789abcdef"
    static let apps = #"[{"id": "shop", "bundle_id": "com.example.shop"}]"#
    static let keys = #"[{"name": "backend", "app": "shop", "secret": "\#(secret)"}]"#
    static let minimal = #"{"apps": \#(apps), "keys": \#(keys)}"#

    /// A file system of a few texts; those whose name begins with `open` may be read by everybody.
    static func files(_ texts: [String: String], folders: Set<String> = ["roots", "certificates"]) -> SettingsFiles {
        SettingsFiles(
            read: { path throws(SettingsFiles.Fault) in
                guard let text = texts[path] else { throw .missing }
                return SettingsFiles.File(bytes: Array(text.utf8), isWorldReadable: path.hasPrefix("open"))
            },
            isFolder: { folders.contains($0) }
        )
    }

    static func read(
        _ text: String?,
        _ environment: [String: String] = [:],
        flags: [String: String] = [:],
        more: [String: String] = [:]
    ) throws(ConfigurationFaults) -> Configuration {
        var environment = environment
        if text != nil { environment["ASSAY_CONFIG"] = "assay.json" }
        let files = files(more.merging(["assay.json": text ?? ""]) { first, _ in first })
        return try Configuration.read(environment: environment, flags: flags, files: files)
    }

    /// What is wrong with it, in the order in which it is told.
    static func faults(
        _ text: String?,
        _ environment: [String: String] = [:],
        flags: [String: String] = [:],
        more: [String: String] = [:]
    ) -> [ConfigurationFault] {
        do throws(ConfigurationFaults) {
            _ = try read(text, environment, flags: flags, more: more)
            return []
        } catch {
            return error.all
        }
    }

    @Test func whatIsNotGivenIsTheDefault() throws {
        let configuration = try Self.read(Self.minimal)
        let app = try #require(configuration.apps.first)
        #expect(app.id == AppID("shop") && app.bundleID == BundleID("com.example.shop"))
        #expect(
            app.environments == [.production] && app.appleID == nil && app.products == nil && !app.acceptsTestSigned
                && !app.readsHistory
        )
        #expect(configuration.keys.map(\.name) == ["backend"])
        #expect(configuration.keys.map(\.sha256) == [Digest.sha256(Array(Self.secret.utf8))])
        #expect(configuration.listen.description == "127.0.0.1:8080")
        #expect(configuration.data == "data" && configuration.profile == .production)
        #expect(configuration.limits == Configuration.Limits())
        #expect(configuration.trust == Configuration.Trust())
    }

    @Test func everyMemberOfTheFileIsTaken() throws {
        let configuration = try Self.read(
            """
            {"apps": [{"id": "shop", "bundle_id": "com.example.shop", "apple_id": 1234567890,
               "environments": ["sandbox", "xcode"], "accept_test_signed": true, "history_at_first_proof": true,
               "products": [{"id": "gold", "kind": "consumable"}, {"id": "pro", "kind": "auto_renewable_subscription"}],
               "app_store": {"notification_token": "a-token_of-16-or-more", "shared_secret": "ABCDEF0123456789abcdef0123456789",
                 "issuer_id": "57246542-96fe-1a63-e053-0824d011072a", "key_id": "2X9R4HXF34", "private_key": "PEM",
                 "hosts": {"api": "https://a/b", "api_sandbox": "https://b:1", "verify_receipt": "http://c",
                   "verify_receipt_sandbox": "http://[::1]:8081"}}}],
             "keys": \(Self.keys), "trust": {"roots": "roots", "certificates": "certificates"},
             "profile": "development", "listen": "[::1]:0", "data": "/var/lib/assay",
             "limits": {"body_bytes": 2048, "header_bytes": 4096, "header_seconds": 1, "body_seconds": 2, "idle_seconds": 3,
               "connections": 4, "in_flight": 5, "streams": 10, "apple_percent": 50, "requests_per_second": 6, "pending_per_app": 7,
               "pending_bytes_per_app": 50000000, "pending_per_customer": 3, "pending_days": 9, "drain_seconds": 8}}
            """
        )
        let app = try #require(configuration.apps.first)
        #expect(app.appleID == 1_234_567_890 && app.environments == [.sandbox, .xcode] && app.acceptsTestSigned)
        #expect(app.readsHistory)
        #expect(app.products?.map(\.product.text) == ["gold", "pro"])
        #expect(app.products?.map(\.kind) == [.consumable, .autoRenewable])
        let store = app.store
        #expect(store.notificationToken == "a-token_of-16-or-more")
        // As Apple sends it, whatever letters it was given in.
        #expect(store.sharedSecret == Array("abcdef0123456789abcdef0123456789".utf8))
        #expect(store.key?.issuer == "57246542-96fe-1a63-e053-0824d011072a" && store.key?.id == "2X9R4HXF34")
        #expect(store.key?.pem == Array("PEM".utf8))
        #expect(store.hosts.serverAPIProduction == "https://a/b" && store.hosts.serverAPISandbox == "https://b:1")
        #expect(store.hosts.verifyReceiptProduction == "http://c")
        #expect(store.hosts.verifyReceiptSandbox == "http://[::1]:8081")
        let printed = ConfigurationText(configuration).text
        for secret in ["abcdef0123456789abcdef0123456789", "a-token_of-16-or-more", "PEM"] {
            #expect(!printed.contains(secret))
        }
        #expect(configuration.listen == ListenAddress(address: "::1", port: 0))
        #expect(configuration.data == "/var/lib/assay" && configuration.profile == .development)
        #expect(configuration.trust == Configuration.Trust(roots: "roots", certificates: "certificates"))
        let limits = Configuration.Limits(
            bodyBytes: 2_048,
            headerBytes: 4_096,
            headerSeconds: 1,
            bodySeconds: 2,
            idleSeconds: 3,
            connections: 4,
            inFlight: 5,
            streams: 10,
            applePercent: 50,
            requestsPerSecond: 6,
            pendingPerApp: 7,
            pendingBytesPerApp: 50_000_000,
            pendingPerCustomer: 3,
            pendingDays: 9,
            drainSeconds: 8
        )
        #expect(configuration.limits == limits)
    }

    @Test func laterLayersOutdoEarlierOnes() throws {
        let text =
            #"{"apps": \#(Self.apps), "keys": \#(Self.keys), "listen": "127.0.0.1:1", "data": "file", "limits": {"in_flight": 1, "connections": 1}}"#
        let configuration = try Self.read(
            text,
            ["ASSAY_LISTEN": "127.0.0.1:2", "ASSAY_LIMITS_IN_FLIGHT": "2", "ASSAY_DATA": "environment", "HOME": "/"],
            flags: ["listen": "127.0.0.1:3", "json": "", "limits-drain-seconds": "3"]
        )
        #expect(configuration.listen.port == 3)
        #expect(configuration.limits.inFlight == 2 && configuration.limits.connections == 1)
        #expect(configuration.limits.drainSeconds == 3)
        #expect(configuration.data == "environment")
        #expect(configuration.origins["listen"] == .flag("listen"))
        #expect(configuration.origins["limits.in_flight"] == .environment("ASSAY_LIMITS_IN_FLIGHT"))
        #expect(configuration.origins["limits.connections"] == .file("assay.json"))
        #expect(configuration.origins["limits.idle_seconds"] == nil)
    }

    /// Each row: where the folder and the database are named, and whether the ledger is in the database.
    @Test(arguments: [
        (environment: ["ASSAY_DATA": "x", "ASSAY_DATABASE_URL": "postgresql://db"], flags: [:], isDatabase: true),
        (["ASSAY_DATABASE_URL": "postgresql://db"], ["data": "x"], false),
        (["ASSAY_DATA": "x"], ["database-url": "postgresql://db"], true),
        ([:], ["data": "x", "database-url": "postgresql://db"], true), (["ASSAY_DATA": "x"], [:], false),
    ])
    func aFolderOnTheCommandLineBeatsADatabaseElsewhere(
        environment: [String: String],
        flags: [String: String],
        isDatabase: Bool
    ) throws {
        let configuration = try Self.read(Self.minimal, environment, flags: flags)
        #expect((configuration.database.url != nil) == isDatabase && configuration.data == "x")
        let line = try #require(ConfigurationText(configuration).lines.first { $0.path == "database.url" })
        #expect(line.value == (isDatabase ? #""postgresql://db""# : "none"))
        if !isDatabase, flags["data"] != nil { #expect(line.origin == .flag("data")) }
    }

    @Test func listsMayComeFromTheEnvironmentAlone() throws {
        let environment = ["ASSAY_APPS": Self.apps, "ASSAY_KEYS_FILE": "keys.json"]
        let configuration = try Self.read(nil, environment, more: ["keys.json": Self.keys])
        #expect(configuration.keys.count == 1 && configuration.apps.count == 1)
        #expect(configuration.origins["keys"] == .environment("ASSAY_KEYS_FILE"))
        let other = Self.keys.replacing("backend", with: "other")
        #expect(try Self.read(Self.minimal, ["ASSAY_KEYS": other]).keys.map(\.name) == ["other"])
    }

    @Test func theFlagNamesTheFileBeforeTheEnvironmentDoes() throws {
        let configuration = try Self.read(
            "not looked at",
            flags: ["config": "other.json"],
            more: ["other.json": Self.minimal]
        )
        #expect(configuration.origins["apps"] == .file("other.json"))
    }

    @Test(arguments: ["secret\n", "secret\r\n", "secret", "secret\n\n"])
    func aSecretOfAFileEndsBeforeItsLineFeed(ending: String) throws {
        let keys = #"[{"name": "backend", "app": "shop", "secret_file": "key"}]"#
        let file = ending.replacing("secret", with: Self.secret)
        let configuration = try Self.read(nil, ["ASSAY_APPS": Self.apps, "ASSAY_KEYS": keys], more: ["key": file])
        #expect(configuration.keys.map(\.sha256) == [Digest.sha256(Array(Self.secret.utf8))])
    }

    @Test func aHashIsAsGoodAsItsSecret() throws {
        let hash = Hexadecimal.encode(Digest.sha256(Array(Self.secret.utf8))).uppercased()
        let keys = #"[{"name": "backend", "app": "shop", "secret_sha256": "\#(hash)"}]"#
        let configuration = try Self.read(nil, ["ASSAY_APPS": Self.apps, "ASSAY_KEYS": keys])
        #expect(configuration.keys.map(\.sha256) == [Digest.sha256(Array(Self.secret.utf8))])
    }

    @Test func whomAppleIsAskedAsAndWhereIsPrinted() throws {
        let apps = """
            [{"id": "shop", "bundle_id": "com.example.shop", "app_store": {"hosts": {"api": "http://127.0.0.1:9"},
              "issuer_id": "an-issuer", "key_id": "2X9R4HXF34", "private_key_file": "pem"}}]
            """
        let keys = """
            [{"name": "a", "app": "shop", "secret_file": "key", "environments": ["sandbox", "production"]},
             {"name": "b", "app": "shop", "secret_file": "other"}]
            """
        let other = String(Self.secret.reversed())
        let files = ["key": Self.secret, "other": other, "pem": "-----BEGIN PRIVATE KEY-----"]
        let configuration = try Self.read(nil, ["ASSAY_APPS": apps, "ASSAY_KEYS": keys], more: files)
        let lines = ConfigurationText(configuration).lines
        func value(_ path: String) -> String? { lines.first { $0.path == path }?.value }
        #expect(value("apps[0].app_store.issuer_id") == #""an-issuer""#)
        #expect(value("apps[0].app_store.hosts.api") == #""http://127.0.0.1:9""#)
        #expect(value("apps[0].app_store.hosts.api_sandbox") == #""https://api.storekit-sandbox.apple.com""#)
        #expect(value("apps[0].app_store.hosts.verify_receipt") == #""https://buy.itunes.apple.com/verifyReceipt""#)
        #expect(
            value("apps[0].app_store.hosts.verify_receipt_sandbox")
                == #""https://sandbox.itunes.apple.com/verifyReceipt""#
        )
        #expect(value("keys[0].environments") == #"["production", "sandbox"]"#)
        #expect(value("keys[1].environments") == "all of its app")
    }

    @Test func whatIsInForceIsPrintedWithItsOriginAndWithoutSecrets() throws {
        let configuration = try Self.read(Self.minimal, ["ASSAY_DATA": "/var/\"lib\""], flags: ["listen": "[::]:80"])
        let lines = ConfigurationText(configuration).lines
        func line(_ path: String) -> ConfigurationText.Line? { lines.first { $0.path == path } }
        #expect(line("listen") == ConfigurationText.Line(path: "listen", value: "\"[::]:80\"", origin: .flag("listen")))
        #expect(line("data")?.value == #""/var/\"lib\"""# && line("data")?.origin == .environment("ASSAY_DATA"))
        #expect(line("limits.in_flight")?.value == "1024" && line("limits.in_flight")?.origin == .standard)
        #expect(line("trust.roots")?.value == "none")
        #expect(line("apps[0].environments")?.value == #"["production"]"#)
        #expect(line("apps[0].products")?.value == "any")
        let hash = Hexadecimal.encode(Digest.sha256(Array(Self.secret.utf8)))
        #expect(line("keys[0].secret_sha256")?.value == "\"\(hash.prefix(8))…\"")
        let text = configuration.effective
        #expect(!text.contains(Self.secret) && !text.contains(hash))
        #expect(text.split(separator: "\n").count == lines.count)
        #expect(text.contains("limits.in_flight "))
    }

    @Test(arguments: [
        ("postgresql://db", "postgresql://db", false),
        ("postgres://assay@db:5432/assay", "postgres://assay@db:5432/assay", false),
        ("postgresql://assay:swordfish@db/assay", "postgresql://assay:…@db/assay", true),
        ("postgresql://assay:sword%2Ffish%3f@db/assay", "postgresql://assay:…@db/assay", true),
        ("postgresql://assay:sword?fish@db/assay", "postgresql://assay:…@db/assay", true),
        ("postgresql://assay:sword:fish@db:/assay", "postgresql://assay:…@db:/assay", true),
        (
            "postgresql://a@db1:1,db2,[::1]:3/assay?target_session_attrs=any",
            "postgresql://a@db1:1,db2,[::1]:3/assay", false
        ),
        ("postgresql:///assay?host=/run/x&user=a@b", "postgresql:///assay", false),
        ("postgresql://%2Frun%2Fx/assay", "postgresql://%2Frun%2Fx/assay", false),
        ("postgresql://a@db?sslmode=require", "postgresql://a@db", false), ("postgresql://", "postgresql://", false),
        ("postgresql://:swordfish@/assay?sslmode=require", "postgresql://:…@/assay", true),
        ("postgresql://db/assay?user=a&password=swordfish", "postgresql://db/assay", true),
        ("postgresql://[::1]:5432/assay?sslmode=require", "postgresql://[::1]:5432/assay", false),
    ])
    func aDatabaseIsPrintedWithoutItsPassword(url: String, printed: String, hasPassword: Bool) throws {
        let configuration = try Self.read(Self.minimal, ["ASSAY_DATABASE_URL_FILE": "url"], more: ["url": url + "\n"])
        #expect(configuration.database.url?.secret == url)
        #expect(configuration.database.url?.hasPassword == hasPassword)
        let line = ConfigurationText(configuration).lines.first { $0.path == "database.url" }
        #expect(line?.value == "\"\(printed)\"")
        #expect(line?.origin == .environment("ASSAY_DATABASE_URL_FILE"))
        #expect(!configuration.effective.contains("fish"))
    }

    /// What libpq does not take as it is meant: its words, or ours, would show a part of the password. Each has `fish` in it.
    @Test(arguments: [
        // It takes the first @ for the end of the password, and nothing that a / stands before.
        "assay:fish/x@db/a", "assay:1/fish@db/a", "assay:1/2?fish@db/a", "fish?x@db/a",
        "as/say:fish@db/a",
        "assay:sword@fish@db/assay", "assay:sword@fish/x@db/a", "db?application_name=fish@b",
        "db:5432?password=sword@fish", "assay:5432?fish@db", "db1,db2:1?user=a&password=fish@x",
        "[::1]:1?password=fish@x",
        // Each % has two digits behind it, which are not 00.
        "assay:se%fish@db/a", "assay:fish%@db/a", "assay:fish%0@db/a", "assay:fish%00@db/a", "db/a?password=fish%zz",
        // A password whose @ is missing looks like a port, and one with an & in it like a parameter.
        "assay:fish", "assay:1fish/a", "db1:1,db2:fish/a", "[::1]fish/a", "[::1:fish/a", "db/a?password=sword&fish",
        "db/a?password=sword&F%41=fish", "assay:fish@[]/a",
    ])
    func aDatabaseThatIsMisunderstoodIsRefused(rest: String) {
        let url = "postgresql://" + rest
        let faults = #expect(throws: ConfigurationFaults.self) {
            try Self.read(Self.minimal, ["ASSAY_DATABASE_URL": url])
        }
        #expect(faults?.description == "ASSAY_DATABASE_URL: \(DatabaseURL.such)")
    }

    @Test(arguments: [
        ("http://proxy:3128", "http://proxy:3128", false), ("https://proxy.internal/", "https://proxy.internal", false),
        ("http://assay@[::1]:8080", "http://assay@[::1]:8080", false),
        ("http://assay:sword%40fish@proxy:3128", "http://assay:…@proxy:3128", true),
        ("http://assay:@proxy", "http://assay:…@proxy", true),
    ])
    func aProxyIsPrintedWithoutItsPassword(url: String, printed: String, hasPassword: Bool) throws {
        let configuration = try Self.read(Self.minimal, ["ASSAY_APPLE_PROXY_FILE": "url"], more: ["url": url + "\n"])
        #expect(configuration.apple.proxy?.secret == url)
        #expect(configuration.apple.proxy?.hasPassword == hasPassword)
        let line = ConfigurationText(configuration).lines.first { $0.path == "apple.proxy" }
        #expect(line?.value == "\"\(printed)\"")
        #expect(line?.origin == .environment("ASSAY_APPLE_PROXY_FILE"))
        #expect(!configuration.effective.contains("fish"))
        let egress = ServeSettings(configuration).egress
        #expect(CallerSettings.outward(egress, connectionsMax: 1).proxy == nil, "webhooks go without it")
    }

    @Test(arguments: [
        "", "proxy:3128", "socks5://proxy:1080", "http://", "http://:3128", "http://proxy:", "http://proxy:0",
        "http://proxy:65536", "http://proxy/path", "http://proxy?x", "http://:secret@proxy", "http://a:b:c@proxy",
        "http://a:b@c@proxy", "http://a:%zz@proxy", "http://a:%4@proxy", "http://[::1", "http://[]:1", "http://pro xy",
    ])
    func whatIsNoProxyIsRefused(url: String) { #expect(ProxyURL(url) == nil) }

    /// Of three apps with one bundle id the first may share no store with the others. Each row: in which order they stand.
    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    func ofOneBundleEachStoreHasOneApp(order: [Int]) throws {
        let all = [("review", "sandbox"), ("shop", "production"), ("shop-eu", "production")].map { id, store in
            #"{"id": "\#(id)", "bundle_id": "b", "environments": ["\#(store)"]}"#
        }
        func text(_ apps: [Int]) -> String {
            let key = #"{"name": "backend", "app": "review", "secret": "\#(Self.secret)"}"#
            return #"{"apps": [\#(apps.map { all[$0] }.joined(separator: ", "))], "keys": [\#(key)]}"#
        }
        #expect(try Self.read(text(order.filter { $0 < 2 })).apps.count == 2)
        let twins = order.indices.filter { order[$0] > 0 }
        let fault = "apps[\(twins[1])].bundle_id: apps[\(twins[0])] has the same; a purchase would count twice"
        do throws(ConfigurationFaults) {
            _ = try Self.read(text(order))
            Issue.record("two apps would have each purchase")
        } catch {
            #expect(error.description.split(separator: "\n").map(String.init) == ["assay.json: \(fault)"])
        }
    }

    @Test func everySettingHasItsOwnNames() {
        #expect(Set(Setting.allCases.map(\.environmentName)).count == Setting.allCases.count)
        #expect(Set(Setting.options.map(\.name)).count == Setting.allCases.count + 1)
        #expect(Setting.bodyBytes.environmentName == "ASSAY_LIMITS_BODY_BYTES")
        #expect(Setting.trustRoots.flag == "trust-roots")
    }
}
