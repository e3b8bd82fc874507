import PurchaseModel
import Storage

/// Where `POST /v1/jobs/retry` goes on, and how far: what died again since it began is left alone. Else whoever goes on until
/// nothing is left would have what dies at once run for ever.
struct RetryPlace: Sendable {
    let cursor: DeadLetterCursor
    /// `nil` for a place of `GET /v1/jobs/dead`, from which one may begin.
    let until: Timestamp?

    init(after cursor: DeadLetterCursor, until: Timestamp) {
        self.cursor = cursor
        self.until = until
    }

    /// As ``text`` writes it; `nil` for anything else.
    init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard (1...2).contains(parts.count), let place = TimeCursor<JobID>(text: parts[0]) else { return nil }
        cursor = DeadLetterCursor(diedAt: place.moment, id: place.id)
        guard parts.count == 2 else {
            until = nil
            return
        }
        guard let number = TransactionID(parts[1])?.number else { return nil }
        until = Timestamp(milliseconds: number)
    }

    /// How answers write it: `1700000000000-job_….1700000005000`.
    var text: String {
        TimeCursor<JobID>(cursor.diedAt, cursor.id).text + (until.map { ".\($0.milliseconds)" } ?? "")
    }

    func reaches(_ row: JobRow) -> Bool {
        guard let until, let diedAt = row.diedAt else { return true }
        return diedAt <= until
    }
}
