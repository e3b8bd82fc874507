/// When the log is brought into the database, in pages of 4 KiB.
package struct CheckpointLimits: Hashable, Sendable {
    /// From so many on, what can be copied without waiting is copied: 16 MiB. A page that many commits changed is copied
    /// once in a step, so fewer and longer steps write less; docs/benchmarks.md has what that does to pauses.
    package var stepPages = 4_000
    /// From so many on, readers are waited for, so that the log cannot grow for ever. 64 MiB.
    package var limitPages = 16_000

    package init() {}

    package init(stepPages: Int, limitPages: Int) {
        self.stepPages = stepPages
        self.limitPages = limitPages
    }
}
