import Glibc
import Testing

/// The descriptors of this process.
enum Descriptors {
    /// How many are open, of the first 4,096.
    static func open() -> Int {
        (0..<Int32(4_096)).filter { fcntl($0, F_GETFD) >= 0 }.count
    }

    /// Forbids numbers from `count` on.
    static func limit(to count: Int) {
        var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: rlim_t(count))
        let result = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #expect(result == 0)
    }

    /// One more than the highest that is open.
    static func end() -> Int {
        Int((0..<Int32(4_096)).last { fcntl($0, F_GETFD) >= 0 } ?? -1) + 1
    }
}

/// Waits until a claim holds; an issue after five seconds.
func settle(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ isTrue: @Sendable () -> Bool
) async throws {
    for _ in 0..<500 {
        if isTrue() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("it did not come true", sourceLocation: sourceLocation)
}
