import Foundation
import TestSupport

/// A program that a signal ends in its middle.
enum Strike {
    /// - Returns: its exit code, or the number of the signal that ended it, negative.
    static func run(
        _ words: [String],
        _ signal: Int32,
        _ random: inout SeededRandom,
        once isBegun: @escaping @Sendable () -> Bool
    ) async throws -> Int32 {
        var process = ChildProcess([Program.path] + words)
        process.environment = [:]
        let running = try process.start()
        let ended = ProcessExit()
        running.whenEnded { ended.note($0) }
        let (id, pause) = (running.id, UInt32.random(in: 0...15_000, using: &random))
        // In a thread of its own: a task may wait for its turn until the program has long ended.
        Thread.detachNewThread {
            while !ended.isNoted, !isBegun() { usleep(200) }
            usleep(pause)
            if !ended.isNoted { kill(id, signal) }
        }
        return await ended.code()
    }
}
