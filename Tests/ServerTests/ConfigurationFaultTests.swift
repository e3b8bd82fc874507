import Encoding
import Testing
import TestSupport

@testable import Server

@Suite struct ConfigurationFaultTests {
    /// What is said of this file, line by line.
    private func faults(
        _ text: String?,
        _ environment: [String: String] = [:],
        flags: [String: String] = [:],
        more: [String: String] = [:]
    ) -> [String] {
        ConfigurationTests.faults(text, environment, flags: flags, more: more).map(\.description)
    }

    @Test(arguments: [
        (#""lisen": "127.0.0.1:1""#, #"lisen: unknown; did you mean "listen"?"#),
        (#""zzz": 1"#, "zzz: unknown"),
        (#""profile": "prodction""#, #"profile: must be production or development; did you mean "production"?"#),
        (#""profile": true"#, "profile: must be a string, not a boolean"),
        (
            #""listen": "localhost:8080""#,
            "listen: must be an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080"
        ),
        (#""listen": 8080"#, "listen: must be a string, not a number"),
        (#""data": """#, "data: must not be empty"), (#""data": null"#, "data: must be a string, not null"),
        (#""database": {"url": "mysql://db"}"#, "database.url: \(DatabaseURL.such)"),
        (
            #""database": {"schema": "a-b"}"#,
            "database.schema: must be 1 to 63 small letters, digits and underscores"
        ),
        (#""database": {"pooled": "yes"}"#, "database.pooled: must be true or false, not a string"),
        (#""trust": "roots""#, "trust: must be an object, not a string"),
        (#""trust": {"root": "roots"}"#, #"trust.root: unknown; did you mean "roots"?"#),
        (#""trust": {"roots": "missing"}"#, #"trust.roots: must be a folder, and "missing" is none"#),
        (#""limits": []"#, "limits: must be an object, not an array"),
        (#""limits": {"body_bytes": 12}"#, "limits.body_bytes: must be a whole number from 1024 to 16777216"),
        (#""limits": {"body_bytes": 16777217}"#, "limits.body_bytes: must be a whole number from 1024 to 16777216"),
        (#""limits": {"body_bytes": 2048.0}"#, "limits.body_bytes: must be a whole number from 1024 to 16777216"),
        (#""limits": {"body_bytes": "2048"}"#, "limits.body_bytes: must be a number, not a string"),
        (#""limits": {"drain_seconds": -1}"#, "limits.drain_seconds: must be a whole number from 0 to 600"),
        (#""limits": {"bodybytes": 2048}"#, #"limits.bodybytes: unknown; did you mean "body_bytes"?"#),
        (#""limits.body_bytes": 2048"#, "limits.body_bytes: unknown"),
    ])
    func settings(member: String, fault: String) {
        let text = #"{"apps": \#(ConfigurationTests.apps), "keys": \#(ConfigurationTests.keys), \#(member)}"#
        #expect(faults(text) == ["assay.json: \(fault)"])
    }

    /// Only those who must know it see a database's password.
    @Test func aPasswordStandsWhereNotEverybodyReadsIt() {
        let url = "postgresql://assay:swordfish@db/assay"
        let minimal = ConfigurationTests.minimal
        let readable = "every user of this machine can read the password there; chmod 600 the file"
        #expect(
            faults(minimal, flags: ["database-url": url])
                == ["--database-url: every user of this machine sees a password there; use ASSAY_DATABASE_URL_FILE"]
        )
        #expect(
            faults(minimal, ["ASSAY_DATABASE_URL_FILE": "open-url"], more: ["open-url": url])
                == ["ASSAY_DATABASE_URL_FILE: \(readable)"]
        )
        #expect(
            faults(minimal, ["ASSAY_DATABASE_URL_FILE": "url", "ASSAY_DATABASE_URL": url], more: ["url": url])
                == ["ASSAY_DATABASE_URL_FILE: only one of it and ASSAY_DATABASE_URL may be set"]
        )
        #expect(
            faults(minimal, ["ASSAY_DATABASE_URL_FILE": "none"])
                == ["ASSAY_DATABASE_URL_FILE: none: there is no such file"]
        )
        #expect(faults(minimal, flags: ["database-url": "postgresql://assay@db/assay"]) == [])
        #expect(faults(minimal, ["ASSAY_DATABASE_URL": url]) == [])
    }

    @Test func aProxysPasswordStandsWhereNotEverybodyReadsIt() {
        let (url, minimal) = ("http://assay:swordfish@proxy:3128", ConfigurationTests.minimal)
        let readable = "every user of this machine can read the password there; chmod 600 the file"
        #expect(
            faults(minimal, flags: ["apple-proxy": url])
                == ["--apple-proxy: every user of this machine sees a password there; use ASSAY_APPLE_PROXY_FILE"]
        )
        #expect(
            faults(minimal, ["ASSAY_APPLE_PROXY_FILE": "open-url"], more: ["open-url": url])
                == ["ASSAY_APPLE_PROXY_FILE: \(readable)"]
        )
        #expect(
            faults(minimal, ["ASSAY_APPLE_PROXY_FILE": "url", "ASSAY_APPLE_PROXY": url], more: ["url": url])
                == ["ASSAY_APPLE_PROXY_FILE: only one of it and ASSAY_APPLE_PROXY may be set"]
        )
        #expect(faults(minimal, ["ASSAY_APPLE_PROXY": "proxy:3128"]) == ["ASSAY_APPLE_PROXY: \(ProxyURL.such)"])
        #expect(faults(minimal, flags: ["apple-proxy": "http://assay@proxy:3128"]) == [])
        #expect(faults(minimal, ["ASSAY_APPLE_PROXY": url]) == [])
    }

    private static let appID = #"1 to 64 letters, digits, "-", "_" or ".", and neither . nor .."#

    @Test(arguments: [
        ("{}", "apps: must be an array, not an object"),
        ("[1]", "apps[0]: must be an object, not a number"),
        (#"[{"bundle_id": "b"}]"#, "apps[0].id: missing"), (#"[{"id": "shop"}]"#, "apps[0].bundle_id: missing"),
        (#"[{"id": "a b", "bundle_id": "b"}]"#, "apps[0].id: must be \(ConfigurationFaultTests.appID)"),
        (#"[{"id": "", "bundle_id": "b"}]"#, "apps[0].id: must be \(ConfigurationFaultTests.appID)"),
        (#"[{"id": "..", "bundle_id": "b"}]"#, "apps[0].id: must be \(ConfigurationFaultTests.appID)"),
        (#"[{"id": "shop", "bundle_id": "ü"}]"#, "apps[0].bundle_id: must be 1 to 255 printable ASCII characters"),
        (
            #"[{"id": "shop", "bundleid": "b", "bundle_id": "b"}]"#,
            #"apps[0].bundleid: unknown; did you mean "bundle_id"?"#
        ),
        (#"[{"id": "shop", "bundle_id": "b", "apple_id": "1"}]"#, "apps[0].apple_id: must be a number, not a string"),
        (#"[{"id": "shop", "bundle_id": "b", "apple_id": 0}]"#, "apps[0].apple_id: must be a whole number above 0"),
        (#"[{"id": "shop", "bundle_id": "b", "apple_id": 1.5}]"#, "apps[0].apple_id: must be a whole number above 0"),
        (
            #"[{"id": "shop", "bundle_id": "b", "environments": ["production", "Sandbox"]}]"#,
            #"apps[0].environments[1]: must be one of production, sandbox, xcode, local_testing; did you mean "sandbox"?"#
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "environments": "sandbox"}]"#,
            "apps[0].environments: must be an array, not a string"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "environments": []}]"#,
            "apps[0].environments: must not be empty: nothing would be accepted"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "environments": ["sandbox", "sandbox"]}]"#,
            "apps[0].environments[1]: stands there twice"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "environments": ["xcode"]}]"#,
            "apps[0].environments: xcode purchases are only accepted where accept_test_signed is true"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "history_at_first_proof": true}]"#,
            "apps[0].history_at_first_proof: needs app_store.issuer_id, key_id and private_key_file, with which Apple is asked"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "history_at_first_proof": "yes"}]"#,
            "apps[0].history_at_first_proof: must be true or false, not a string"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "accept_test_signed": 1}]"#,
            "apps[0].accept_test_signed: must be true or false, not a number"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "accept_test_signed": true}]"#,
            "apps[0].accept_test_signed: must be false where profile is production: anybody's test purchase would count"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "app_store": {"shared_secrets": "x"}}]"#,
            #"apps[0].app_store.shared_secrets: unknown; did you mean "shared_secret"?"#
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "app_store": {"shared_secret": "short"}}]"#,
            "apps[0].app_store.shared_secret: must be 32 hexadecimal digits, as App Store Connect shows them"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "app_store": {"notification_token": "short"}}]"#,
            #"apps[0].app_store.notification_token: must be 16 to 128 letters, digits, "-" or "_""#
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "app_store": {"issuer_id": "i", "key_id": "k"}}]"#,
            "apps[0].app_store.private_key_file: missing"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "app_store": {"private_key": "PEM", "issuer_id": "i"}}]"#,
            "apps[0].app_store.key_id: missing"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "app_store": {"hosts": {"api": "https://a/path/"}}}]"#,
            "apps[0].app_store.hosts.api: must be an http or https URL that does not end with a slash, such as "
                + "https://api.storekit.apple.com"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "products": []}]"#,
            "apps[0].products: must not be empty; leave it out to accept every product"
        ),
        (#"[{"id": "shop", "bundle_id": "b", "products": [{"id": "gold"}]}]"#, "apps[0].products[0].kind: missing"),
        (
            #"[{"id": "shop", "bundle_id": "b", "products": [{"id": "gold", "kind": "consumible"}]}]"#,
            "apps[0].products[0].kind: must be one of consumable, non_consumable, auto_renewable_subscription, "
                + #"non_renewing_subscription, free_subscription; did you mean "consumable"?"#
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "products": [{"id": "a", "kind": "consumable", "goods": [{"currency": "gems"}]}]}]"#,
            "apps[0].products[0].goods[0].amount: missing"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "products": [{"id": "a", "kind": "consumable", "goods": [{"currency": "gems", "amount": 0}]}]}]"#,
            "apps[0].products[0].goods[0].amount: must be a whole number from 1 to 1000000000000"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "products": [{"id": "a", "kind": "consumable", "goods": [{"entitlement": "x", "amount": 1}]}]}]"#,
            "apps[0].products[0].goods[0]: is an entitlement or an amount of a currency, not both"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "products": [{"id": "a", "kind": "consumable", "goods": [{"entitlement": ".."}]}]}]"#,
            "apps[0].products[0].goods[0].entitlement: must be 1 to 255 printable ASCII characters, no spaces, and neither . nor .."
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "products": [{"id": "a", "kind": "consumable", "goods": [{"currency": ".", "amount": 1}]}]}]"#,
            "apps[0].products[0].goods[0].currency: must be 1 to 255 printable ASCII characters, no spaces, and neither . nor .."
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "products": [{"id": "a", "kind": "consumable", "period_days": 30}]}]"#,
            "apps[0].products[0].period_days: only a non_renewing_subscription has a period of ours"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "binding": "transfre"}]"#,
            #"apps[0].binding: must be one of refuse, transfer, transfer_if_inactive, share; did you mean "transfer"?"#
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "sandbox": "all"}]"#,
            "apps[0].sandbox: must be record_only, or an object with customers or everybody_until"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "sandbox": {}}]"#,
            "apps[0].sandbox: needs customers or everybody_until, and not both"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "sandbox": {"everybody_until": "soon"}}]"#,
            "apps[0].sandbox.everybody_until: must be a moment such as 2026-12-01T00:00:00Z"
        ),
        (
            #"[{"id": "shop", "bundle_id": "b", "products": [{"id": "a", "kind": "consumable"}, {"id": "a", "kind": "consumable"}]}]"#,
            "apps[0].products[1].id: stands there twice"
        ),
        (#"[{"id": "shop", "bundle_id": "b"}, {"id": "shop", "bundle_id": "c"}]"#, "apps[1].id: apps[0] has the same"),
        (
            #"[{"id": "shop", "bundle_id": "b"}, {"id": "shop2", "bundle_id": "b"}]"#,
            "apps[1].bundle_id: apps[0] has the same; a purchase would count twice"
        ),
        (
            #"[{"id": "shop-of-the-sea-1", "bundle_id": "b"}, {"id": "shop", "bundle_id": "c", "app_store": {"notification_token": "shop-of-the-sea-1"}}]"#,
            "apps[1].app_store.notification_token: apps[0] has the same, or is called so: one of them would get no notification"
        ),
    ])
    func apps(list: String, fault: String) {
        let hash = String(repeating: "0", count: 64)
        let text = #"{"apps": \#(list), "keys": [{"name": "k", "app": "shop", "secret_sha256": "\#(hash)"}]}"#
        #expect(faults(text) == ["assay.json: \(fault)"])
    }

    @Test func aProductGivesNoMoreThanIsToldAndKept() {
        for count in [500, 501] {
            let goods = (0..<count).map { #"{"entitlement": "episode-\#($0)"}"# }.joined(separator: ",")
            let product = #"{"id": "series", "kind": "non_consumable", "goods": [\#(goods)]}"#
            let apps = #"[{"id": "shop", "bundle_id": "b", "products": [\#(product)]}]"#
            let fault =
                "assay.json: apps[0].products[0].goods: at most 500 goods, and these are 501; give one entitlement for "
                + "what belongs together"
            let found = faults(#"{"apps": \#(apps), "keys": \#(ConfigurationTests.keys)}"#)
            #expect(found == (count == 500 ? [] : [fault]))
        }
    }

    @Test func anAppMayBeThereOnceForEachEnvironment() {
        let apps =
            #"[{"id": "shop", "bundle_id": "b"}, {"id": "shop-test", "bundle_id": "b", "environments": ["sandbox"]}]"#
        #expect(faults(#"{"apps": \#(apps), "keys": \#(ConfigurationTests.keys)}"#).isEmpty)
    }

    @Test(arguments: [
        ("{}", "keys: must be an array, not an object"),
        (#"[{"app": "shop", "secret_sha256": "HASH"}]"#, "keys[0].name: missing"),
        (#"[{"name": "k", "secret_sha256": "HASH"}]"#, "keys[0].app: missing"),
        (#"[{"name": "k", "app": "shop"}]"#, "keys[0]: one of secret, secret_file, secret_sha256 is missing"),
        (
            #"[{"name": "k", "app": "shop", "secret": "SECRET", "secret_file": "key"}]"#,
            "keys[0]: only one of secret, secret_file, secret_sha256 may be given"
        ),
        (
            #"[{"name": "k", "app": "shop", "secret": "short"}]"#,
            "keys[0].secret: must have 32 to 256 characters, not 5"
        ),
        (
            #"[{"name": "k", "app": "shop", "secret": "SECRET SECRET"}]"#,
            "keys[0].secret: must be printable ASCII without spaces"
        ),
        (#"[{"name": "k", "app": "shop", "secret": 5}]"#, "keys[0].secret: must be a string, not a number"),
        (
            #"[{"name": "k", "app": "shop", "secret_sha256": "00"}]"#,
            "keys[0].secret_sha256: must be 64 hexadecimal digits"
        ),
        (#"[{"name": "k", "app": "shop", "secret_file": "none"}]"#, "keys[0].secret_file: none: there is no such file"),
        (
            #"[{"name": "k", "app": "shop", "secret_file": "open-key"}]"#,
            "keys[0].secret_file: every user of this machine can read open-key; chmod 600 it"
        ),
        (
            #"[{"name": "k", "app": "shop", "secret_file": "empty"}]"#,
            "keys[0].secret_file: must have 32 to 256 characters, not 0"
        ),
        (
            #"[{"name": "k", "app": "shop", "secret_sh256": "HASH", "secret": "SECRET"}]"#,
            #"keys[0].secret_sh256: unknown; did you mean "secret_sha256"?"#
        ),
        (
            #"[{"name": "k", "app": "shop", "secret": "SECRET", "scopes": []}]"#,
            "keys[0].scopes: must not be empty: the key would open nothing; say what it may do, or leave out the key"
        ),
        (
            #"[{"name": "k", "app": "shap", "secret": "SECRET"}]"#,
            #"keys[0].app: key "k" is for app "shap", which is not configured; did you mean "shop"?"#
        ),
        (
            #"[{"name": "k", "app": "shop", "secret": "SECRET"}, {"name": "k", "app": "shop", "secret_sha256": "HASH"}]"#,
            "keys[1].name: keys[0] has the same"
        ),
        (
            #"[{"name": "k", "app": "shop", "secret": "SECRET"}, {"name": "l", "app": "shop", "secret_file": "key"}]"#,
            "keys[1]: keys[0] has the same secret"
        ),
    ])
    func keys(list: String, fault: String) {
        let secret = ConfigurationTests.secret
        let list = list.replacing("SECRET", with: secret).replacing("HASH", with: String(repeating: "0", count: 64))
        let more = ["key": secret + "\n", "open-key": secret, "empty": "\n"]
        let found = faults(#"{"apps": \#(ConfigurationTests.apps), "keys": \#(list)}"#, more: more)
        #expect(found == ["assay.json: \(fault)"])
        #expect(!found.joined().contains(secret))
    }

    @Test func aSecretInAFileForEverybodyIsRefused() {
        let found = faults(nil, ["ASSAY_CONFIG": "open.json"], more: ["open.json": ConfigurationTests.minimal])
        #expect(found == ["open.json: keys[0].secret: every user of this machine can read it here; chmod 600 the file"])
    }

    @Test(
        arguments: [
            (["ASSAY_LISTN": "x"], #"ASSAY_LISTN: unknown; did you mean "ASSAY_LISTEN"?"#),
            (["ASSAY_BODY_BYTES": "2048"], "ASSAY_BODY_BYTES: unknown"),
            (
                ["ASSAY_LISTEN": ""],
                "ASSAY_LISTEN: must be an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080"
            ),
            (["ASSAY_LIMITS_IN_FLIGHT": "ten"], "ASSAY_LIMITS_IN_FLIGHT: must be a whole number from 1 to 100000"),
            (["ASSAY_LIMITS_IN_FLIGHT": "+5"], "ASSAY_LIMITS_IN_FLIGHT: must be a whole number from 1 to 100000"),
            (["ASSAY_APPS": "[1]", "ASSAY_KEYS": "[]"], "ASSAY_APPS: apps[0]: must be an object, not a number"),
            (["ASSAY_APPS": "[\n {\"id\": x}]"], "ASSAY_APPS: no strict JSON: unexpected_byte at line 2, column 9"),
            (["ASSAY_KEYS_FILE": "none"], "ASSAY_KEYS_FILE: none: there is no such file"),
            (
                ["ASSAY_KEYS": "[]", "ASSAY_KEYS_FILE": "none"],
                "ASSAY_KEYS: only one of it and ASSAY_KEYS_FILE may be set"
            ),
            (["ASSAY_CORPUS": "/corpus", "ASSAY_SWEEP": "long"], nil), (["ASSAYER": "x", "assay_listen": "x"], nil),
            (["ASSAY_SERVICE_HOST": "10.0.0.11", "ASSAY_PORT": "tcp://10.0.0.11:8080"], nil),
            (["ASSAY_PORT": "9000"], "ASSAY_PORT: unknown"),
        ] as [([String: String], String?)]
    )
    func theEnvironment(environment: [String: String], fault: String?) {
        #expect(faults(ConfigurationTests.minimal, environment) == (fault.map { [$0] } ?? []))
    }

    @Test func flagsAndFilesAreNamed() {
        #expect(
            faults(ConfigurationTests.minimal, flags: ["limits-in-flight": "0"])
                == ["--limits-in-flight: must be a whole number from 1 to 100000"]
        )
        #expect(faults(nil, ["ASSAY_CONFIG": "nowhere.json"]) == ["nowhere.json: there is no such file"])
        #expect(faults("{\"apps\": [],}") == ["assay.json: no strict JSON: unexpected_byte at line 1, column 13"])
        #expect(faults("[]").first == "assay.json: must be an object, not an array")
    }

    @Test func whatMustBeThereIsAskedFor() {
        let found = faults(nil)
        #expect(found.count == 2)
        #expect(found.first?.hasPrefix("apps: missing; give some in the file or in ASSAY_APPS, such as [{") == true)
        #expect(found.last?.hasPrefix("keys: missing; give some in the file or in ASSAY_KEYS, such as [{") == true)
    }

    @Test func allIsToldAtOnce() {
        let text =
            #"{"apps": [{"id": "shop", "bundle": "b"}], "keys": [{"name": "k"}], "listn": 1, "limits": {"in_flight": 0}}"#
        let found = faults(text, ["ASSAY_DATTA": "x"], flags: ["listen": "nowhere"])
        #expect(found.count == 8)
        #expect(Set(found).count == 8)
    }

    @Test(
        arguments: [
            ("0.0.0.0:0", "0.0.0.0", 0), ("255.1.2.3:65535", "255.1.2.3", 65_535), ("[::]:80", "::", 80),
            ("[2001:db8::1]:8080", "2001:db8::1", 8_080), ("[::ffff:1.2.3.4]:1", "::ffff:1.2.3.4", 1),
            ("127.0.0.1", nil, 0), ("127.0.0.1:", nil, 0), (":8080", nil, 0), ("8080", nil, 0),
            ("127.0.0.1:65536", nil, 0),
            ("127.0.0.1:-1", nil, 0), ("127.0.0.1:+1", nil, 0), ("127.0.0.1:80 ", nil, 0), ("127.0.0.256:1", nil, 0),
            ("127.0.0:1", nil, 0), ("127.0.0.01:1", nil, 0), ("127.0.0.1.:1", nil, 0), ("::1:8080", nil, 0),
            ("[]:1", nil, 0),
            ("[::1]", nil, 0), ("[::1:1", nil, 0), ("[127.0.0.1]:1", nil, 0), ("[g::]:1", nil, 0), ("*:80", nil, 0),
            ("", nil, 0),
        ] as [(String, String?, UInt16)]
    )
    func addresses(text: String, address: String?, port: UInt16) {
        #expect(ListenAddress(text) == address.map { ListenAddress(address: $0, port: port) })
    }
}
