/// How calls are made, and what the other side may cost us.
package struct CallerSettings: Sendable {
    /// To find the name, connect and agree on TLS.
    package var connectTimeout: Duration = .seconds(10)
    /// For a whole call that names no time of its own.
    package var timeout: Duration = .seconds(30)
    /// An answer's body; what is longer fails. The longest that Apple's servers send is about 1 MiB.
    package var responseBytesMax = 8 << 20
    /// Takes the beginning of a longer answer instead: for who needs its status, and little more.
    package var cutsBody = false
    /// All fields of an answer with their names.
    package var headerBytesMax = 64 << 10
    /// How often an answer may send us elsewhere: never, by default.
    package var redirectsMax = 0
    /// Open at once, in all and to one host; further calls wait.
    package var connectionsMax = 64
    package var connectionsToHostMax = 8
    /// Under way and waiting; beyond it calls fail at once.
    package var callsMax = 1_024
    /// PEM certificates of further authorities, beside the system's.
    package var authoritiesFile: String?
    /// `http://user:password@host:port` or `https://…`, percent-encoded; nil for none. The process's environment is not asked.
    package var proxy: String?
    /// Whether the proxy is asked for a tunnel (`CONNECT`) also where there is no TLS, as it is where there is.
    package var tunnelsAlways = false
    /// Asked before each connection with the address to connect to, the proxy's if there is one. Called on the caller's
    /// own thread; it must be quick.
    package var allows: @Sendable (HTTPRemote) -> Bool = { _ in true }

    /// Asked before each call for the addresses of the host in its URL, as text, IPv6 in brackets; nil asks the system.
    /// They are judged like any other.
    package var addresses: @Sendable (_ host: String) -> [String]? = { _ in nil }

    package init() {}

    /// For calls to servers that others chose: nothing but the address itself is followed, little is read, nobody waits
    /// long, and no address is connected to that the rule refuses.
    ///
    /// - Parameters:
    ///   - rule: where calls may go.
    ///   - connectionsMax: open at once.
    /// - Returns: settings of their own for a caller of its own: its connections are shared with no one else's calls.
    package static func outward(_ rule: EgressRule, connectionsMax: Int) -> CallerSettings {
        var settings = CallerSettings()
        settings.connectTimeout = .seconds(5)
        // Standard Webhooks 1.0.0, *Request timeouts*, recommends 15 to 30 seconds.
        settings.timeout = .seconds(20)
        settings.responseBytesMax = 64 << 10
        settings.cutsBody = true
        settings.headerBytesMax = 16 << 10
        settings.redirectsMax = 0
        settings.proxy = nil
        settings.connectionsMax = connectionsMax
        // A call that waits for a connection uses up its time, and hosts are shared: how many calls one endpoint gets at once
        // is its owner's to say, and whoever calls sees to it.
        settings.connectionsToHostMax = connectionsMax
        settings.callsMax = connectionsMax * 2
        settings.allows = { rule.allows($0) }
        return settings
    }
}
