import Testing

@testable import Server

/// Changes that would say nothing without a flag: what is needed is named before anybody is asked.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct NeededFlagTests {
    @Test(arguments: [
        (["customers", "grant", "anna", "pro"], "one of --until and --for-ever is needed"),
        (["customers", "grant", "anna", "pro", "--reason", "kind"], "one of --until and --for-ever is needed"),
        (["customers", "set-consent", "anna"], "one of --given and --withdrawn is needed"),
        (["webhooks", "replay", "whe_0"], "one of --event, --dead and --from is needed"),
        (["webhooks", "replay", "whe_0", "--cursor", "7"], "one of --event, --dead and --from is needed"),
        (["webhooks", "change", "whe_0"], "one of --url, --enable, --disable, "),
    ])
    func theyAreNamed(words: [String], said: String) async throws {
        // Nobody listens there: what is complete fails otherwise.
        let server = ["--server", "http://127.0.0.1:1", "--key-file", "/etc/hostname"]
        let run = try await Program.run(words + server)
        #expect(run.code == 2 && run.output == [])
        #expect(run.errorText.contains(said), "\(run.errorText)")
    }

    @Test func theyAreFlagsOfTheCommand() {
        for question in Questions.all where !question.oneOf.isEmpty {
            #expect(Set(question.oneOf).isSubset(of: question.fields.map(\.option.name)), "\(question.name)")
        }
    }
}
