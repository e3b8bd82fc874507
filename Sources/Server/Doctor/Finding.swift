/// What one check of the doctor found.
struct Finding: Equatable, Sendable {
    enum Status: String, Sendable {
        case ok
        /// It works, and will not for ever, or not as it could.
        case warn
        case fail
    }

    /// The check's stable name.
    let check: String
    /// Which of several: an app and a store, a file, a host.
    var subject = ""
    let status: Status
    /// What was seen.
    let found: String
    /// Why that is so, as far as it can be told from here.
    var cause: String?
    /// What to do.
    var fix: String?

    static func ok(_ check: String, of subject: String = "", _ found: String) -> Finding {
        Finding(check: check, subject: subject, status: .ok, found: found)
    }

    static func warn(
        _ check: String,
        of subject: String = "",
        _ found: String,
        cause: String? = nil,
        fix: String
    ) -> Finding {
        Finding(check: check, subject: subject, status: .warn, found: found, cause: cause, fix: fix)
    }

    static func fail(
        _ check: String,
        of subject: String = "",
        _ found: String,
        cause: String? = nil,
        fix: String
    ) -> Finding {
        Finding(check: check, subject: subject, status: .fail, found: found, cause: cause, fix: fix)
    }
}
