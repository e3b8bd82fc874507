/// One check that was made, in the order in which it was made.
package struct Check: Hashable, Sendable {
    package let name: CheckName
    package let outcome: Outcome
    /// What was seen, for the operator. Only for what did not simply pass.
    package let detail: String?

    package enum Outcome: String, Hashable, Sendable {
        case passed
        case failed
        /// Not made, because something cheaper had settled the verdict, or because nothing was expected.
        case skipped
    }
}

/// The checks there are. Stable words.
package enum CheckName: String, Hashable, Sendable, CaseIterable {
    case unwrapping
    case format
    case triage
    case envelope
    case chain
    case signature
    case content
    case validity
    case nested
    case bundleID = "bundle_id"
    case appleID = "apple_id"
    case environment
    case product
    case device
}

/// The checks made so far.
struct Trace {
    private(set) var checks: [Check] = []

    init() { checks.reserveCapacity(12) }

    mutating func passed(_ name: CheckName, _ detail: String? = nil) {
        checks.append(Check(name: name, outcome: .passed, detail: detail))
    }

    mutating func skipped(_ name: CheckName, _ detail: String) {
        checks.append(Check(name: name, outcome: .skipped, detail: detail))
    }

    mutating func failed(_ name: CheckName, _ refusal: Refusal) {
        checks.append(Check(name: name, outcome: .failed, detail: refusal.detail ?? refusal.reason.rawValue))
    }

    /// Runs one check: what it throws is noted under its name.
    mutating func check<Value>(_ name: CheckName, _ body: () throws(Refusal) -> Value) throws(Refusal) -> Value {
        do throws(Refusal) {
            let value = try body()
            passed(name)
            return value
        } catch {
            failed(name, error)
            throw error
        }
    }
}
