import Testing

@testable import Server

/// Wherever a value came from, a program finds the setting that is wrong by the name that a file gives it.
@Suite struct FaultPathTests {
    /// Each row: what is wrong, where it is, and how its line for people begins.
    @Test(
        arguments: [
            (["ASSAY_LIMITS_IN_FLIGHT": "0"], [:], "limits.in_flight", "ASSAY_LIMITS_IN_FLIGHT: must be a whole"),
            ([:], ["limits-in-flight": "0"], "limits.in_flight", "--limits-in-flight: must be a whole number"),
            (["ASSAY_DATABASE_URL_FILE": "none"], [:], "database.url", "ASSAY_DATABASE_URL_FILE: none: there is no"),
            (
                ["ASSAY_ANSWERS_SIGNING_KEY_FILE": "none"], [:], "answers.signing_key_file",
                "ASSAY_ANSWERS_SIGNING_KEY_FILE: none: there is no"
            ),
            (["ASSAY_TRUST_ROOTS": "none"], [:], "trust.roots", "ASSAY_TRUST_ROOTS: must be a folder"),
            (["ASSAY_APPS": "{"], [:], "apps", "ASSAY_APPS: no strict JSON: "),
            (["ASSAY_APPS": "[]"], [:], "apps", "ASSAY_APPS: must not be empty"),
            (["ASSAY_KEYS": "{"], [:], "keys", "ASSAY_KEYS: no strict JSON: "),
            (["ASSAY_KEYS_FILE": "none"], [:], "keys", "ASSAY_KEYS_FILE: none: there is no"),
            (["ASSAY_KEYS": "[1]"], [:], "keys[0]", "ASSAY_KEYS: keys[0]: must be an object"),
            (["ASSAY_LISTN": "x"], [:], "", "ASSAY_LISTN: unknown"),
        ] as [([String: String], [String: String], String, String)]
    )
    func theSettingIsNamedAsInAFile(
        environment: [String: String],
        flags: [String: String],
        path: String,
        line: String
    ) throws {
        let fault = try #require(ConfigurationTests.faults(ConfigurationTests.minimal, environment, flags: flags).first)
        #expect(fault.path == path)
        #expect(fault.description.hasPrefix(line), "\(fault)")
    }

    /// What only shows once all is read names the member, too, also behind an entry that is left out since it is faulty.
    @Test func whatContradictsTheRestIsNamedByItsMember() {
        let secret = ConfigurationTests.secret
        let keys = #"[{"name": "j"}, {"name": "k", "app": "shap", "secret": "\#(secret)"}]"#
        let apps = #"[{"id": "shop"}, {"id": "game", "bundle_id": "b", "accept_test_signed": true}]"#
        let paths = ConfigurationTests.faults(#"{"apps": \#(apps), "keys": \#(keys)}"#).map(\.path)
        #expect(paths.contains("keys[1].app") && paths.contains("apps[1].accept_test_signed"), "\(paths)")
    }

    /// Of two ledgers the flag names the one.
    @Test func twoLedgersAreToldOfWhereTheFolderIsNamed() throws {
        let environment = ["ASSAY_DATABASE_URL": "postgresql://db"]
        let configuration = try ConfigurationTests.read(ConfigurationTests.minimal, environment, flags: ["data": "x"])
        let faults = StartCheck.contradictions(configuration)
        #expect(faults.map(\.path) == ["data"])
        #expect(faults.first?.description.hasPrefix("--data: a database is named as well") == true)
    }
}
