/// Why a listener could not be opened: the kernel's reason, such as EADDRINUSE (98) or EACCES (13); EINVAL (22) for an
/// address that is none. A retry can mend the first.
package struct HTTPListenerFailure: Error, Equatable, Sendable {
    package let errno: Int32

    package init(errno: Int32) {
        self.errno = errno
    }
}
