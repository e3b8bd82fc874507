import Glibc

/// One thing to measure: called once for each operation, with a number that tells it which sample to take.
struct Contender {
    let name: String
    let operation: (Int) throws -> Void
}

/// What one contender cost.
struct Figure {
    let name: String
    /// CPU time of one operation: the median of the rounds.
    let nanoseconds: Double
    /// Half of what lies between the lower and the upper quarter of the rounds, as a share of the median.
    let spread: Double
    /// The median over the rounds of this contender's time in the baseline's time of the same round; 1 for the baseline.
    let ratio: Double
}

/// Compares contenders with a baseline in the same process, round by round, so that what disturbs one disturbs all.
///
/// What counts is the CPU time of this thread: other work on the machine hardly changes it, and it changes ratios within
/// a round even less.
struct Measure {
    /// How often each contender runs: many short rounds, so that what disturbs one contender disturbs all of that round.
    var rounds = 61
    /// How long one contender runs in one round.
    var nanosecondsPerRound: UInt64 = 8_000_000

    /// - Returns: the baseline's figure, then the others' in their order.
    func compare(_ baseline: Contender, _ others: [Contender]) throws -> [Figure] {
        let all = [baseline] + others
        let counts = try all.map { try operationsPerRound($0) }
        var times = all.map { _ in [Double]() }
        for round in 0..<rounds {
            for place in all.indices {
                // Nobody always runs first.
                let index = (place + round) % all.count
                times[index].append(try time(all[index], operations: counts[index]))
            }
        }
        return all.indices.map { index in
            let sorted = times[index].sorted()
            let median = sorted[rounds / 2]
            return Figure(
                name: all[index].name,
                nanoseconds: median,
                spread: (sorted[rounds * 3 / 4] - sorted[rounds / 4]) / 2 / median,
                ratio: zip(times[index], times[0]).map { $0 / $1 }.sorted()[rounds / 2]
            )
        }
    }

    /// As many as fill a round, found by doubling.
    private func operationsPerRound(_ contender: Contender) throws -> Int {
        // The first ones fill caches, and take far longer than any later one.
        for index in 0..<100 { try contender.operation(index) }
        var count = 1
        while true {
            let began = CPUTime.ofThread
            for index in 0..<count { try contender.operation(index) }
            let taken = CPUTime.ofThread - began
            if taken * 4 >= nanosecondsPerRound || count > 1 << 24 {
                return max(1, Int(Double(count) * Double(nanosecondsPerRound) / Double(max(taken, 1))))
            }
            count *= 2
        }
    }

    private func time(_ contender: Contender, operations: Int) throws -> Double {
        let began = CPUTime.ofThread
        for index in 0..<operations { try contender.operation(index) }
        return Double(CPUTime.ofThread - began) / Double(operations)
    }
}

/// What the kernel has counted, in nanoseconds.
enum CPUTime {
    static var ofThread: UInt64 { read(CLOCK_THREAD_CPUTIME_ID) }
    static var ofProcess: UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }
    /// Not CPU time, but what a clock on the wall shows: never set back.
    static var elapsed: UInt64 { read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
