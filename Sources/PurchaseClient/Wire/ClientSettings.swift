/// How an app speaks to its server.
public struct ClientSettings: Sendable {
    /// How many requests are under way at once, if nothing else is said: enough for a restore of many purchases, and few
    /// for the server when thousands of apps come back at once.
    public static let inFlight = 3

    /// A publishable key (`pk_…`). It is in the app, so everybody has it.
    public var key: String
    /// The token that shows that a customer is who the app says, where the server wants one. Asked before each request, so
    /// that a new one is used at once; where it takes longer than half a minute, the request is made later.
    public var customerToken: @Sendable (_ customer: String) async -> String?
    /// How many requests are under way at once; one at least.
    public var inFlightMax: Int

    /// Settings with a key, and the rest as it mostly is.
    ///
    /// - Parameters:
    ///   - key: a publishable key.
    ///   - inFlightMax: how many requests are under way at once.
    ///   - customerToken: a customer's token; none if not given.
    public init(
        key: String,
        inFlightMax: Int = ClientSettings.inFlight,
        customerToken: @escaping @Sendable (_ customer: String) async -> String? = { _ in nil }
    ) {
        self.key = key
        self.inFlightMax = max(1, inFlightMax)
        self.customerToken = customerToken
    }
}
