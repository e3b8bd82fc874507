/// How the app and the server stand, and what was given up.
enum OperatingQuestions {
    static let all: [Question] = [
        Question(
            name: "apps show",
            summary: "Shows what is configured for the key's app, and how it stands.",
            path: "/v1/app",
            examples: [
                ("assay apps show", "what waits, what is compared, who may call"),
                ("assay apps show --json | jq .submissions_waiting", "a number to watch"),
            ]
        ),
        Question(
            name: "jobs list",
            summary: "Shows how much is to be done later, by kind.",
            path: "/v1/jobs",
            rows: .init(
                member: "queues",
                columns: ["kind", "waiting", "running", "suspect", "dead", "oldest_due_at"]
            ),
            examples: [("assay jobs list", "whether anything piles up")]
        ),
        Question(
            name: "jobs dead",
            summary: "Lists the app's jobs that were given up, with the reason.",
            path: "/v1/jobs/dead",
            rows: .init(
                member: "jobs",
                columns: ["job_id", "kind", "about", "attempts", "died_at", "reason"],
                place: "after"
            ),
            examples: [("assay jobs dead --all", "and why")]
        ),
        Question(
            name: "jobs retry",
            summary: "Has a job that was given up run again.",
            isChange: true,
            path: "/v1/jobs/{}/retry",
            words: "JOB",
            examples: [("assay jobs retry job_0123", "once the cause is mended")]
        ),
        Question(
            name: "jobs retry-all",
            summary: "Has all of the app's jobs that were given up run again, or those of one kind.",
            isChange: true,
            path: "/v1/jobs/retry",
            fields: [
                .text("kind", "KIND", "Only these, such as support.ask.", as: "kind"),
                .text("after", "PLACE", "Where to begin: what \"jobs dead\" named as more.", as: "after"),
            ],
            goesOn: (next: "next", place: "after"),
            examples: [("assay jobs retry-all --kind support.ask", "after Apple's key was put right")]
        ),
    ]
}
