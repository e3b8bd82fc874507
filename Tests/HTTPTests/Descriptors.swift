import Glibc
import Testing

/// The descriptors of this process.
enum Descriptors {
    /// How many sockets are open, among the first 4,096 numbers. Dispatch opens other kinds when it likes.
    static func sockets() -> Int {
        (0..<Int32(4_096)).filter { descriptor in
            var status = stat()
            return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }.count
    }

    /// Leaves exactly `count` free: a number that the limit forbids stays open where it is open already.
    static func leave(_ count: Int) {
        let free = (0..<Int32(4_096)).filter { fcntl($0, F_GETFD) < 0 }
        var limit = rlimit(rlim_cur: rlim_t(free[count]), rlim_max: rlim_t(free[count]))
        let result = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #expect(result == 0)
    }
}

/// Waits until a claim holds; an issue after a quarter of a minute.
func settle(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ isTrue: @Sendable () -> Bool
) async throws {
    for _ in 0..<1_500 {
        if isTrue() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("it did not come true", sourceLocation: sourceLocation)
}
