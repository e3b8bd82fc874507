/// How calls are made, and what the other side may cost us.
package struct CallerSettings: Sendable {
    /// To find the name, connect and agree on TLS.
    package var connectTimeout: Duration = .seconds(10)
    /// For a whole call that names no time of its own.
    package var timeout: Duration = .seconds(30)
    /// An answer's body; what is longer fails. The longest that Apple's servers send is about 1 MiB.
    package var responseBytesMax = 8 << 20
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
    /// `http://host:port`; nil for none. The process's environment is not asked.
    package var proxy: String?
    /// Asked before each connection with the address to connect to, the proxy's if there is one. Called on the caller's
    /// own thread; it must be quick.
    package var allows: @Sendable (HTTPRemote) -> Bool = { _ in true }

    package init() {}
}
