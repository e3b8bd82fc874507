extension WebhookSender {
    /// Why no test message is sent now; either passes by itself.
    package enum TestRefusal: Error, Sendable {
        /// As long as a call may take.
        package static let pause = Duration.seconds(20)

        /// One to this endpoint is under way.
        case underWay
        /// As many to others are under way as may be, or there is no room for one more call.
        case tooMany
    }
}
