import Foundation
import TestSupport

/// A program that a signal ends in its middle.
enum Strike {
    /// - Returns: its exit code, or the number of the signal that ended it, negative.
    static func run(
        _ words: [String],
        _ signal: Int32,
        _ random: inout SeededRandom,
        once isBegun: () -> Bool
    ) async throws -> Int32 {
        var process = ChildProcess([Program.path] + words)
        process.environment = [:]
        let running = try process.start()
        let ended = ProcessExit()
        running.whenEnded { ended.note($0) }
        while !ended.isNoted, !isBegun() { try await Task.sleep(for: .microseconds(200)) }
        try await Task.sleep(for: .microseconds(Int.random(in: 0...15_000, using: &random)))
        if !ended.isNoted { kill(running.id, signal) }
        return await ended.code()
    }
}
