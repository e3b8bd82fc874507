import Foundation

extension Surroundings {
    /// The device's own.
    public static var device: Surroundings {
        Surroundings(
            now: { Date() },
            uptime: { ProcessInfo.processInfo.systemUptime },
            sleep: { seconds in
                // Nobody waits for more than a day at once, so that no number is too large.
                let nanoseconds = UInt64(min(max(seconds, 0), 86_400) * 1_000_000_000)
                // Cancelled, it throws; whoever waits sees that by itself.
                try? await Task.sleep(nanoseconds: nanoseconds)
            },
            chance: { UInt64.random(in: .min ... .max) }
        )
    }
}
