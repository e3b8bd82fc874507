import Testing

@testable import Server

/// A key whose app is not configured, told apart from one whose app is there and faulty.
@Suite struct MissingAppTests {
    private static let key = #"{"name": "k", "app": "shop", "secret": "\#(ConfigurationTests.secret)"}"#
    private static let good = #"{"id": "game", "bundle_id": "b"}"#

    /// Each row: the apps, and whether it is told that the key's is none of them.
    @Test(arguments: [
        (apps: "[GOOD]", isTold: true), ("[]", true),
        (#"[GOOD, {"id": "shop", "bundle_id": "ü"}]"#, false), (#"[GOOD, {"id": "shop"}]"#, false),
        (#"[{"id": "shop", "bundle_id": "b", "apple_id": 0}]"#, false),
        // Of another one that is faulty the id can be read.
        (#"[{"id": "book", "bundle_id": "ü"}]"#, true),
        // Any of these may be meant.
        (#"[{"id": "shop!", "bundle_id": "b"}]"#, false), (#"[GOOD, {"bundle_id": "c"}]"#, false),
        (#"[GOOD, {"id": 7, "bundle_id": "c"}]"#, false), ("[1]", false), (#""shop""#, false),
    ])
    func whatIsThereAndFaultyIsNotCalledMissing(apps: String, isTold: Bool) {
        let text = #"{"apps": \#(apps), "keys": [\#(Self.key)]}"#.replacing("GOOD", with: Self.good)
        #expect(Self.isTold(ConfigurationTests.faults(text)) == isTold)
    }

    /// Nobody knows which apps stand in what cannot be read.
    @Test func whereTheAppsCannotBeReadNothingIsSaidOfThem() {
        let keys = "[\(Self.key)]"
        for (text, apps) in [("{", nil), ("{}", "["), (#"{"apps": [\#(Self.good)]}"#, "[")] as [(String, String?)] {
            var environment = ["ASSAY_KEYS": keys]
            environment["ASSAY_APPS"] = apps
            let faults = ConfigurationTests.faults(text, environment)
            #expect(!faults.isEmpty && !Self.isTold(faults), "\(faults)")
        }
        let environment = ["ASSAY_KEYS": keys, "ASSAY_CONFIG": "nowhere.json"]
        let missing = ConfigurationTests.faults(nil, environment)
        #expect(missing.map(\.description) == ["nowhere.json: there is no such file"])
        // What outdoes it can be.
        let other = ConfigurationTests.faults("{", ["ASSAY_KEYS": keys, "ASSAY_APPS": "[\(Self.good)]"])
        #expect(Self.isTold(other))
    }

    private static func isTold(_ faults: [ConfigurationFault]) -> Bool {
        faults.contains { $0.description.contains(#"key "k" is for app "shop", which is not configured"#) }
    }
}
