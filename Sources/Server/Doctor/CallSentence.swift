import HTTP

/// Why a call was not answered, for people, with what to do.
extension HTTPCallFailure {
    var sentence: String {
        switch self {
        case .invalidCall: "the address is none that can be called"
        case .unresolved: "no address is known for the name"
        case .unreachable: "nobody listens there"
        case .addressRefused: "the name leads to an address that may not be called"
        case .timedOut: "no answer in time"
        case .tls: "no TLS: the certificate is not for this name, has ended, or leads to no root that is known here"
        case .noResponse, .closedEarly, .connectionLost: "the connection ended before there was an answer"
        case .malformedResponse: "what answered speaks no HTTP"
        case .tooLarge: "the answer was too long"
        case .tooManyRedirects: "it sends on to somewhere else"
        case .proxy: "the proxy was not found, nobody listens there, or it let nobody through"
        case .tooManyCalls, .cancelled: "it was not called"
        case .other(let code): "libcurl gave up with its code \(code)"
        }
    }

    var advice: String {
        switch self {
        case .unresolved: "look at /etc/resolv.conf, and whether the name is right"
        case .unreachable: "look whether it runs, and whether a firewall or a wrong port is in between"
        case .timedOut: "a firewall that drops packets looks like this: let connections out to port 443"
        case .tls: "install ca-certificates, look at the date of this machine, and at a proxy that opens TLS"
        case .proxy: "look at apple.proxy, at the user and password in it, and whether it lets CONNECT through"
        case .addressRefused: "allow it with webhooks.allowed_addresses, if it is meant"
        default: "try it with curl -v from this machine"
        }
    }
}
