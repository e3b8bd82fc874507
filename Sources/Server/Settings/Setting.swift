import HTTP

/// The settings that are one text or one number. The path of each gives it its place in the file, its name in the
/// environment and its flag: `limits.body_bytes`, `ASSAY_LIMITS_BODY_BYTES`, `--limits-body-bytes`.
enum Setting: String, CaseIterable, Sendable {
    case profile
    case listen
    case data
    case databaseURL = "database.url"
    case databaseSchema = "database.schema"
    case databasePooled = "database.pooled"
    case appleProxy = "apple.proxy"
    case webhookAddresses = "webhooks.allowed_addresses"
    case webhookHosts = "webhooks.plain_hosts"
    case trustRoots = "trust.roots"
    case trustCertificates = "trust.certificates"
    case signingKey = "answers.signing_key_file"
    case bodyBytes = "limits.body_bytes"
    case headerBytes = "limits.header_bytes"
    case headerSeconds = "limits.header_seconds"
    case bodySeconds = "limits.body_seconds"
    case idleSeconds = "limits.idle_seconds"
    case connections = "limits.connections"
    case inFlight = "limits.in_flight"
    case streams = "limits.streams"
    case appleShare = "limits.apple_percent"
    case requestsPerSecond = "limits.requests_per_second"
    case pendingPerApp = "limits.pending_per_app"
    case pendingBytesPerApp = "limits.pending_bytes_per_app"
    case pendingPerCustomer = "limits.pending_per_customer"
    case pendingDays = "limits.pending_days"
    case drainSeconds = "limits.drain_seconds"

    /// What a value must look like, and where it goes.
    enum Form {
        case address
        case profile
        case path(WritableKeyPath<Configuration, String>)
        /// A folder that must be there.
        case folder(WritableKeyPath<Configuration, String?>)
        case whole(ClosedRange<Int>, WritableKeyPath<Configuration, Int>)
        case bool(WritableKeyPath<Configuration, Bool>)
        /// Words with commas between them; what each must be is told if it is none.
        case words(String, WritableKeyPath<Configuration, [String]>, isWord: (String) -> Bool)
        /// Of a database, perhaps with a password.
        case database
        /// An HTTP proxy, perhaps with a password.
        case proxy
        /// A file with an Ed25519 key that signs answers.
        case signingKey
        /// The name of a schema in it.
        case schema
    }

    var form: Form {
        switch self {
        case .profile: .profile
        case .listen: .address
        case .data: .path(\.data)
        case .databaseURL: .database
        case .databaseSchema: .schema
        case .databasePooled: .bool(\.database.isPooled)
        case .appleProxy: .proxy
        case .webhookAddresses:
            .words("a block of addresses such as 10.0.0.0/8", \.webhooks.allowedAddresses) { AddressBlock($0) != nil }
        case .webhookHosts:
            .words("the name of a host, in lower case", \.webhooks.plainHosts) { text in
                (1...253).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                    && !text.utf8.contains { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "/") }
            }
        case .trustRoots: .folder(\.trust.roots)
        case .trustCertificates: .folder(\.trust.certificates)
        case .signingKey: .signingKey
        // The upper end is what the JSON door and the verifier take.
        case .bodyBytes: .whole(1_024...16_777_216, \.limits.bodyBytes)
        case .headerBytes: .whole(1_024...65_536, \.limits.headerBytes)
        case .headerSeconds: .whole(1...300, \.limits.headerSeconds)
        case .bodySeconds: .whole(1...3_600, \.limits.bodySeconds)
        case .idleSeconds: .whole(1...3_600, \.limits.idleSeconds)
        case .connections: .whole(1...1_000_000, \.limits.connections)
        case .inFlight: .whole(1...100_000, \.limits.inFlight)
        case .streams: .whole(0...100_000, \.limits.streams)
        case .appleShare: .whole(1...100, \.limits.applePercent)
        case .requestsPerSecond: .whole(0...1_000_000, \.limits.requestsPerSecond)
        case .pendingPerApp: .whole(1...10_000_000, \.limits.pendingPerApp)
        // At least one of the longest.
        case .pendingBytesPerApp: .whole(16_777_216...1_099_511_627_776, \.limits.pendingBytesPerApp)
        case .pendingPerCustomer: .whole(1...10_000_000, \.limits.pendingPerCustomer)
        case .pendingDays: .whole(1...3_650, \.limits.pendingDays)
        case .drainSeconds: .whole(0...600, \.limits.drainSeconds)
        }
    }

    var summary: String {
        switch self {
        case .profile: "production, which refuses what is only for tests, or development."
        case .listen: "Address and port to listen on."
        case .data: "Folder of the ledger."
        case .databaseURL: "PostgreSQL database of the ledger, instead of the folder."
        case .databaseSchema: "Schema of the ledger in that database."
        case .databasePooled: "true behind a pooler that lends sessions for one transaction."
        case .appleProxy: "HTTP proxy for all calls to Apple; never for webhooks."
        case .webhookAddresses: "Private addresses that webhooks may be sent to, with commas between them."
        case .webhookHosts: "Hosts that webhooks may be sent to by http, with commas between them."
        case .trustRoots: "Folder of roots to trust for test purchases."
        case .trustCertificates: "Folder of Apple's certificates that proofs do not carry."
        case .signingKey: "Ed25519 key in PEM, by which answers are signed for who wishes it."
        case .bodyBytes: "Longest request body, in bytes."
        case .headerBytes: "Longest request head, in bytes."
        case .headerSeconds: "Seconds for a request's head to arrive."
        case .bodySeconds: "Seconds for a request's body to arrive."
        case .idleSeconds: "Seconds between two requests on a connection."
        case .connections: "Connections at a time."
        case .inFlight: "Requests being answered at a time."
        case .streams: "Event feeds followed live at a time."
        case .appleShare: "What of Apple's limits this server may use, in percent; several servers divide them."
        case .requestsPerSecond: "Requests a second for each key; 0 is no limit."
        case .pendingPerApp: "Undecided purchases kept for each app."
        case .pendingBytesPerApp: "Bytes of undecided purchases kept for each app."
        case .pendingPerCustomer: "Undecided purchases kept for each customer."
        case .pendingDays: "Days that an undecided purchase is kept waiting."
        case .drainSeconds: "Seconds that a stop waits for requests under way."
        }
    }

    var path: String { rawValue }

    var environmentName: String { Self.environmentName(of: path) }

    /// What has this path in the file is called so in the environment, as the lists `apps` and `keys` are, too.
    static func environmentName(of path: String) -> String { "ASSAY_" + spelled(path, with: "_").uppercased() }

    /// Names a file with the value, for those that may hold a password.
    var environmentFileName: String { environmentName + "_FILE" }

    static let withPassword: [Setting] = [.databaseURL, .appleProxy]

    /// Without the hyphens.
    var flag: String { Self.spelled(path, with: "-") }

    private static func spelled(_ path: String, with separator: String) -> String {
        path.split { $0 == "." || $0 == "_" }.joined(separator: separator)
    }

    /// The flags of every command that reads the configuration.
    static var options: [CommandShape.Option] {
        [CommandShape.Option("config", value: "FILE", "JSON file with the configuration.")]
            + allCases.map { CommandShape.Option($0.flag, value: $0.valueName, $0.summary) }
    }

    /// The flags of commands that need to know where the ledger is, and no more.
    static var placeOptions: [CommandShape.Option] {
        let wanted: [Setting] = [.data, .databaseURL, .databaseSchema, .databasePooled]
        return options.filter { option in option.name == "config" || wanted.contains { $0.flag == option.name } }
    }

    private var valueName: String {
        switch form {
        case .address: "ADDRESS:PORT"
        case .profile: "PROFILE"
        case .path, .folder: "FOLDER"
        case .signingKey: "FILE"
        case .whole: "NUMBER"
        case .bool: "true|false"
        case .words: "LIST"
        case .database, .proxy: "URL"
        case .schema: "NAME"
        }
    }
}
