import Encoding
package import HTTP
package import Pipeline
package import PurchaseModel

/// What of the running server pages show, and what they may have it do.
package struct RunningServer: Sendable {
    /// How Apple and one app reach each other. Nothing secret is in it but where notifications come in.
    package struct AppleDoor: Hashable, Sendable {
        /// Whether there is a key of the Server API.
        package let hasKey: Bool
        package let hasSharedSecret: Bool
        /// Whether another host stands in Apple's place.
        package let isSimulated: Bool
        /// Below the server's own address. Who knows it can send what is none: it is for those who set things up.
        package let notificationPath: String

        package init(hasKey: Bool, hasSharedSecret: Bool, isSimulated: Bool, notificationPath: String) {
            self.hasKey = hasKey
            self.hasSharedSecret = hasSharedSecret
            self.isSimulated = isSimulated
            self.notificationPath = notificationPath
        }
    }

    package var doors: [AppID: AppleDoor]
    package var contacts: AppleContacts
    package var keys: KeyRing
    /// `nil` where no webhook is sent.
    package var sender: WebhookSender?
    /// `nil` where no notification is taken in.
    package var intake: NotificationIntake?
    /// The App Store simulator beside it: only `assay demo` has one.
    package var simulator: SimulatorLine?

    package init(
        doors: [AppID: AppleDoor] = [:],
        contacts: AppleContacts = AppleContacts(),
        keys: KeyRing = KeyRing([:]),
        sender: WebhookSender? = nil,
        intake: NotificationIntake? = nil,
        simulator: SimulatorLine? = nil
    ) {
        self.doors = doors
        self.contacts = contacts
        self.keys = keys
        self.sender = sender
        self.intake = intake
        self.simulator = simulator
    }
}

/// The control API of a simulator: JSON below `/simulator/v1`.
package struct SimulatorLine: Sendable {
    /// `nil` when nobody answers.
    package var ask: @Sendable (HTTPMethod, _ path: String, _ body: [UInt8]) async -> HTTPResponse?

    package init(ask: @escaping @Sendable (HTTPMethod, _ path: String, _ body: [UInt8]) async -> HTTPResponse?) {
        self.ask = ask
    }

    /// What it shows below a path; `nil` when nobody answers, or something else.
    func object(_ path: String) async -> JSONObject? {
        guard let answer = await ask(.get, path, []), answer.status == .ok else { return nil }
        return try? JSONDocument(answer.body).root.object
    }

    /// What time it is in its store.
    func time() async -> Timestamp? {
        await object("/clock")?["now"]?.string.flatMap { RFC3339.milliseconds($0) }.map { Timestamp(milliseconds: $0) }
    }
}
