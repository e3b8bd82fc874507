import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/jobs`: what is done later, how much of it there is, and what was given up.
struct Jobs: Sendable {
    /// How many dead letters one request looks at: most may be another app's.
    private static let lookedAtMax = 10_000
    /// The same for one that writes: all others wait for it.
    private static let retriedMax = 500

    let store: any Store

    /// A dead letter, and the store that it is about.
    private struct Found: Sendable {
        let row: JobRow
        let environment: StoreEnvironment?
    }

    /// `GET /v1/jobs`: how many of each kind there are, of all apps.
    func figures() async -> HTTPResponse {
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in try reader.jobFigures() }
            return .json(.ok) { json in
                json.array("queues") { json in
                    for queue in found {
                        json.object { json in
                            json.member("kind", queue.kind)
                            json.member("waiting", queue.counts[.pending] ?? 0)
                            json.member("running", queue.counts[.leased] ?? 0)
                            json.member("suspect", queue.counts[.suspect] ?? 0)
                            json.member("dead", queue.counts[.dead] ?? 0)
                            json.member("oldest_due_at", queue.oldestDue)
                        }
                    }
                }
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `GET /v1/jobs/dead`: the app's that were given up, those that died first before the others.
    func dead(_ query: String?, app: AppPolicy) async -> HTTPResponse {
        do throws(QueryFields.Fault) {
            let fields = try QueryFields(query, names: ["limit", "after"])
            let place: TimeCursor<JobID>? = try fields.place()
            return await dead(after: place, try fields.limit(DeadLetterPage.limitMax), app)
        } catch {
            return error.response
        }
    }

    private func dead(after place: TimeCursor<JobID>?, _ limit: Int, _ app: AppPolicy) async -> HTTPResponse {
        do throws(StoreFailure) {
            let (found, next) = try await store.read { reader throws(StoreFailure) in
                let start = place.map { DeadLetterCursor($0) }
                return try Self.deadLetters(of: app, after: start, limit: limit, in: reader)
            }
            return .json(.ok) { json in
                json.array("jobs") { json in
                    for job in found { json.object { Self.write(job.row, job.environment, into: &$0) } }
                }
                json.member("next", next?.place.text)
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `POST /v1/jobs/{id}/retry`: at once, as if it were new.
    func retry(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        do throws(RequestBody.Fault) {
            _ = try RequestBody(optional: change.request.body, members: [])
        } catch {
            return error.response
        }
        guard let id = change.path["id"].flatMap({ JobID($0) }), let row = try transaction.job(id), row.state == .dead,
            let subject = try JobSubject.of(row.job, in: transaction), Self.isShown(subject, to: change.app)
        else { return Problem.notFound("dead letter") }
        guard try transaction.reviveJob(id, at: change.now) else {
            return Problem.conflict("job_waits_already", "A job for the same waits or runs already.")
        }
        return .json(.ok) { json in
            json.member("job_id", id.text)
            json.member("kind", row.job.kind)
            json.member("state", "waiting")
        }
    }

    /// `POST /v1/jobs/retry`: all of the app's, or of one kind, from a place on.
    func retryAll(_ change: Gate.Change, _ transaction: any StoreTransaction) throws(StoreFailure) -> HTTPResponse {
        let kind: String?
        let start: RetryPlace?
        do throws(RequestBody.Fault) {
            let body = try RequestBody(optional: change.request.body, members: ["kind", "after"])
            kind = try body.text("kind")
            start = try body.text("after").map { text throws(RequestBody.Fault) in
                guard let place = RetryPlace(text: text) else {
                    throw RequestBody.Fault(field: "after", detail: "This is no place that an answer named.")
                }
                return place
            }
        } catch {
            return error.response
        }
        var (retried, left, place, lookedAt) = (0, 0, start?.cursor, 0)
        var seen = SeenPlace(.oldestFirst, from: place?.place)
        var told: TimeCursor<JobID>?
        repeat {
            let page = try transaction.deadLetters(after: place, limit: DeadLetterPage.limitMax)
            let rows = page.jobs.prefix { start?.reaches($0) ?? true }
            for row in rows {
                guard let subject = try JobSubject.of(row.job, in: transaction), Self.isShown(subject, to: change.app)
                else { continue }
                seen.lastSeen = row.place
                guard kind.map({ $0 == row.job.kind }) ?? true else { continue }
                if try transaction.reviveJob(row.id, at: change.now) { retried += 1 } else { left += 1 }
            }
            lookedAt += rows.count
            place = rows.count < page.jobs.count ? nil : page.next
            told = place.flatMap { lookedAt < Self.retriedMax ? nil : seen.told($0.place) }
        } while place != nil && told == nil
        let (done, waiting) = (retried, left)
        let next = told.map { RetryPlace(after: DeadLetterCursor($0), until: start?.until ?? change.now) }
        return .json(.ok) { json in
            json.member("retried", done)
            // A job for the same waits already.
            json.member("left", waiting)
            json.member("next", next?.text)
        }
    }

    private static func isShown(_ subject: JobSubject, to app: AppPolicy) -> Bool {
        guard subject.app == app.id else { return false }
        return subject.environment.map { app.shows(Realm(environment: $0, isTestSigned: false)) } ?? true
    }

    private static func deadLetters(
        of app: AppPolicy,
        after start: DeadLetterCursor?,
        limit: Int,
        in reader: any StoreReader
    ) throws(StoreFailure) -> (found: [Found], next: DeadLetterCursor?) {
        var (found, place, lookedAt) = ([Found](), start, 0)
        var seen = SeenPlace(.oldestFirst, from: start.map(\.place))
        while true {
            let page = try reader.deadLetters(after: place, limit: DeadLetterPage.limitMax)
            for row in page.jobs {
                lookedAt += 1
                guard let subject = try JobSubject.of(row.job, in: reader), isShown(subject, to: app) else { continue }
                // This one is the next page's.
                if found.count == limit { return (found, seen.lastSeen.map { DeadLetterCursor($0) }) }
                found.append(Found(row: row, environment: subject.environment))
                seen.lastSeen = row.place
            }
            guard let next = page.next else { return (found, nil) }
            if lookedAt >= lookedAtMax, let told = seen.told(next.place) { return (found, DeadLetterCursor(told)) }
            place = next
        }
    }

    private static func write(_ row: JobRow, _ environment: StoreEnvironment?, into json: inout JSONObjectWriter) {
        json.member("job_id", row.id.text)
        json.member("kind", row.job.kind)
        json.member("about", row.job.key)
        json.member("environment", environment?.rawValue)
        json.member("reason", row.reason)
        json.member("attempts", row.attempt)
        json.member("created_at", row.job.createdAt)
        json.member("died_at", row.diedAt)
    }
}

extension DeadLetterCursor {
    fileprivate init(_ place: TimeCursor<JobID>) { self.init(diedAt: place.moment, id: place.id) }

    fileprivate var place: TimeCursor<JobID> { TimeCursor(diedAt, id) }
}

extension JobRow {
    /// In a listing of dead letters.
    fileprivate var place: TimeCursor<JobID>? { diedAt.map { TimeCursor($0, id) } }
}
