/// Every command that there is, with its flags: what `assay --help` prints.
enum CommandLineTable {
    static let all = CommandTable(
        program: "assay",
        summary: "Assay verifies App Store purchases and records each of them once.",
        commands: [
            verify, serve, demo, DoctorCommand.shape, configCheck, configPrint, LedgerCommands.refusals,
            LedgerCommands.evidence,
            LedgerCommands.certificates,
            WebhookCommands.sign, WebhookCommands.verify, WebhookListen.shape,
        ] + Questions.all.map(\.shape) + AppleCommands.all + OperatorCommands.all + [simulate] + SimulateCommands.all
            + ManualCommands.all
    )

    private static let verify = CommandShape(
        name: "verify",
        summary: "Examines proofs of purchase offline, and explains.",
        positionals: "FILE…|-",
        positionalsRange: 1...10_000,
        options: [
            .init("json", "One JSON object a line instead of text."),
            .init("bundle-id", value: "ID", "The app that it must be for. Without it the app is not checked."),
            .init("environment", value: "production|sandbox", "The store that it must be from."),
            .init("at", value: "RFC3339", "Judge certificates at this moment, in UTC (…Z), not at that of signing."),
            .init("roots", value: "DIR", "Roots to trust beside Apple's: what they vouch for is test_signed."),
            .init("certificates", value: "DIR", "Intermediates that proofs do not carry (iOS 6 receipts)."),
            .init("device-id", value: "HEX", "The device that an app receipt must be for."),
        ],
        notes: ["Exits with 0 when all are genuine, 1 when any is not, 2 when something could not be read."],
        examples: [
            ("assay verify receipt.bin", "an app receipt, as it lies on the device or in base64"),
            ("assay verify --json --bundle-id com.example.app - < transaction.jws", "a StoreKit 2 transaction"),
        ]
    )

    private static let serve = CommandShape(
        name: "serve",
        summary: "Takes proofs over HTTP and records each transaction once.",
        options: Setting.options,
        notes: ["Each flag also has a name in the environment, such as ASSAY_LISTEN, and a place in the file."],
        examples: [("assay serve --config assay.json", "everything from one file")]
    )

    private static let demo = CommandShape(
        name: "demo",
        summary: "Serves Assay and, beside it, an App Store of your own that it trusts.",
        options: [
            .init("data", value: "DIR", "Where everything is kept; data if not given."),
            .init("listen", value: "ADDRESS:PORT", "Where Assay listens; 127.0.0.1:8080 if not given."),
            .init("simulator", value: "ADDRESS:PORT", "Where the App Store listens; 127.0.0.1:8081 if not given."),
        ],
        notes: ["It takes nothing from the environment. Delete the folder to begin anew."]
    )

    private static let simulate = CommandShape(
        name: "simulate",
        summary: "Opens an App Store of your own: it signs, sells, renews, refunds, and fails on purpose.",
        options: [
            .init("data", value: "DIR", "Where its authority and keys are kept; simulator if not given."),
            .init("listen", value: "ADDRESS:PORT", "Where to listen; 127.0.0.1:8081 if not given."),
            .init("notify", value: "URL", "Where notifications go; nowhere if not given."),
            .init("pace", value: "N", "Virtual seconds in a real one; 1 if not given, 0 stands still."),
            .init("start", value: "RFC3339", "When the store's time begins; now if not given."),
            .init("seed", value: "N", "Decides all numbers that the store makes; 1 if not given."),
            .init("rate-limits", "Enforces Apple's hourly limits of the Server API, by the real clock."),
            .init("population", value: "N", "So many customers, who have lived for a year; none if not given."),
        ],
        notes: [
            "The commands \(SimulateCommands.names) speak to it while it runs.",
            "docs/simulator.md describes its endpoints, docs/stories.md the stories that it can be told.",
        ],
        examples: [("assay simulate --pace 0", "time moves only when it is told to")]
    )

    private static let configCheck = CommandShape(
        name: "config check",
        summary: "Reads the configuration and says what is wrong with it.",
        options: [json] + Setting.options
    )

    private static let configPrint = CommandShape(
        name: "config print",
        summary: "Prints every value that is in force, and where it came from.",
        options: [json] + Setting.options
    )

    private static let json = CommandShape.Option("json", "One JSON object instead of text, of faults as well.")
}
