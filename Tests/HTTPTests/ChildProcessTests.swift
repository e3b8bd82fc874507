import Foundation
import TestSupport
import Testing

/// The programs that tests start beside themselves.
@Suite struct ChildProcessTests {
    /// A thread of a dispatch queue blocks the signals, and a program begins with what its starter blocks.
    @Test func whoeverStartsItCanEndIt() async throws {
        let code: Int32 = try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                let ended = Result { () throws(ChildProcess.NotStarted) in
                    let running = try ChildProcess(["/bin/sleep", "20"]).start()
                    running.terminate()
                    return running.waitUntilExit()
                }
                continuation.resume(with: ended.mapError { $0 as any Error })
            }
        }
        #expect(code == -SIGTERM)
    }

    /// One that has ended and is still there keeps the tests of traps from hearing of their own.
    @Test func oneThatNobodyWaitsForGoesByItself() async throws {
        let id = try ChildProcess(["/bin/true"]).start().id
        for _ in 1...2_000 where kill(id, 0) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(kill(id, 0) == -1)
    }
}
