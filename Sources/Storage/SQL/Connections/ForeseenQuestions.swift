/// Questions that come next, in their order, and what the server answered to all of them at once.
struct ForeseenQuestions {
    struct Question {
        let lookup: BulkLookup
        let keys: [[SQLValue]]
    }

    /// Whether questions are noted here instead of being asked.
    private(set) var areNoted = false
    private(set) var questions: [Question] = []
    private var answers: [PostgreSQLResult] = []
    private var taken = 0

    /// Notes the questions that a closure asks, in place of those that were foreseen before.
    mutating func begin() {
        self = ForeseenQuestions()
        areNoted = true
    }

    mutating func note(_ lookup: BulkLookup, _ keys: [[SQLValue]]) {
        questions.append(Question(lookup: lookup, keys: keys))
    }

    /// Ends the noting, with an answer to each question or none to any.
    mutating func end(_ answers: [PostgreSQLResult]) {
        areNoted = false
        self.answers = answers
        if answers.isEmpty { questions = [] }
    }

    /// The answer to what is asked now, if just that was foreseen. Otherwise the rest may not be the answer any more: it is
    /// forgotten.
    mutating func take(_ lookup: BulkLookup, _ keys: [[SQLValue]]) -> PostgreSQLResult? {
        guard taken < answers.count, questions[taken].lookup === lookup, questions[taken].keys == keys else {
            forget()
            return nil
        }
        defer { taken += 1 }
        return answers[taken]
    }

    mutating func forget() {
        if !areNoted, !questions.isEmpty { self = ForeseenQuestions() }
    }
}
