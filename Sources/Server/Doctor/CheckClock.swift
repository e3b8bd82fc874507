/// Whether this machine's clock goes with Apple's.
enum CheckClock {
    /// Apple refuses tokens from the future; ours are dated back by thirty seconds.
    private static let wrong = Duration.seconds(30)
    private static let doubtful = Duration.seconds(5)

    /// - Parameter skews: what Apple's answers showed beyond our clock.
    /// - Returns: nothing when nobody answered: that is told by the hosts.
    static func findings(_ skews: [Duration]) -> [Finding] {
        guard let least = skews.min(by: { magnitude($0) < magnitude($1) }) else { return [] }
        let size = magnitude(least)
        let seconds = (size + .milliseconds(500)).components.seconds
        let side = least < .zero ? "ahead of" : "behind"
        let found = "this machine's clock is \(seconds) s \(side) Apple's"
        let fix = "have the clock kept: timedatectl set-ntp true, or chrony; look with \"chronyc tracking\""
        if size > wrong {
            return [
                .fail(
                    "clock",
                    found,
                    cause: "Tokens for Apple are dated by it, and refused when they seem old or from the future.",
                    fix: fix
                )
            ]
        }
        if size > doubtful { return [.warn("clock", found, fix: fix)] }
        return [.ok("clock", "within a few seconds of Apple's")]
    }

    private static func magnitude(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}
