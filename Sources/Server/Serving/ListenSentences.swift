import Glibc
import HTTP

/// Why nothing can be listened on, for people.
extension HTTPListenerFailure {
    var sentence: String {
        switch errno {
        case EADDRINUSE: "another program does already"
        case EADDRNOTAVAIL: "this machine has no such address"
        case EACCES: "this user may not"
        default: "errno \(errno)"
        }
    }
}
