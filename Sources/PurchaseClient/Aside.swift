extension PurchaseClient {
    /// How long one of the app's answers is waited for, in seconds.
    private static let answerWithin: Double = 30
    /// So many answers may be owed. An app that never answers is not asked again and again without end.
    private static let owedMax = 100

    /// What is to be done beside everything else: the app's closures and the store's may never return, and then hold up
    /// nobody but themselves.
    struct Aside {
        var waiting: [@Sendable () async -> Void] = []
        /// Counts the groups in which it is done: one that was cancelled lasts until all in it have returned.
        var group = 0
        /// How many of the newest group have returned, and are still to be taken out of it.
        var ended = 0
        /// Answers that the app was asked for and has not given.
        var owed = 0
        /// Purchases of which the app is being asked whose they are.
        var asking: [String: Question] = [:]
        /// Those of which it is asked a last time after a while, unless they are somebody's by then.
        var later: Set<String> = []
    }

    /// What the app is being asked.
    struct Question {
        /// How often it had been woken when it was asked.
        let wakes: Int
        /// How often in a row it was woken while it was asked.
        let round: Int
    }

    /// Has something done, each in a task of its own, while the client runs.
    func doAside(_ work: @escaping @Sendable () async -> Void) {
        aside.waiting.append(work)
        ring()
    }

    /// Starts what is to be done aside, until the task is cancelled.
    func runAside() async {
        aside.group += 1
        aside.ended = 0
        let number = aside.group
        await withTaskGroup(of: Void.self) { group in
            while !Task.isCancelled {
                let (waiting, ended) = (aside.waiting, aside.ended)
                (aside.waiting, aside.ended) = ([], 0)
                for work in waiting {
                    group.addTask {
                        await work()
                        await self.noteEnd(in: number)
                    }
                }
                for _ in 0..<ended { await group.next() }
                // Taking them out takes a moment, in which nobody hears the bell.
                if aside.waiting.isEmpty { await rest(nil) }
            }
        }
    }

    private func noteEnd(in group: Int) {
        if group == aside.group { aside.ended += 1 }
    }

    /// What the app answers.
    ///
    /// - Parameter question: one of the app's closures.
    /// - Returns: `nil` when it has not answered in time; then it is asked anew later.
    func askApp<Value: Sendable>(_ question: @escaping @Sendable () async -> Value) async -> Value? {
        guard aside.owed < Self.owedMax else { return nil }
        aside.owed += 1
        let (answers, answer) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(1))
        doAside {
            answer.yield(await question())
            answer.finish()
            await self.noteAnswer()
        }
        let sleep = surroundings.sleep
        return await withTaskGroup(of: Value?.self) { group in
            group.addTask {
                for await value in answers { return value }
                return nil
            }
            group.addTask {
                await sleep(Self.answerWithin)
                return nil
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
    }

    private func noteAnswer() { aside.owed -= 1 }
}
