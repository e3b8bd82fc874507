import Encoding
import HTTP
import PurchaseModel
import Storage

/// The fields of a query, percent-decoded, each at most once and none that we do not know.
struct QueryFields {
    struct Fault: Error {
        let detail: String

        static let otherPage = Fault(detail: "after is the next of another page.")

        var response: HTTPResponse {
            Problem.response(.badRequest, code: "invalid_query", detail: detail)
        }
    }

    private let values: [String: String]

    init(_ query: String?, names: Set<String>) throws(Fault) {
        var values: [String: String] = [:]
        let pairs = (query ?? "").utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        // No query and an empty one are the same.
        for pair in pairs where pairs.count > 1 || !pair.isEmpty {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { PercentCoding.decode($0) }
            guard parts.count == 2, let name = parts[0], names.contains(name) else {
                let known = names.sorted().joined(separator: ", ")
                throw Fault(detail: "This takes \(known.isEmpty ? "no query" : "\(known), and nothing else").")
            }
            guard let value = parts[1] else { throw Fault(detail: "\(name) is not percent-encoded as it should be.") }
            guard values.updateValue(value, forKey: name) == nil else {
                throw Fault(detail: "\(name) stands there twice.")
            }
        }
        self.values = values
    }

    /// What is answered where no field is known, if there is one.
    static func refusal(of request: HTTPRequest) -> HTTPResponse? {
        if request.query == nil { return nil }
        do throws(Fault) {
            _ = try QueryFields(request.query, names: [])
            return nil
        } catch {
            return error.response
        }
    }

    subscript(name: String) -> String? { values[name] }

    func identifier<Identifier: ASCIIIdentifier>(_ name: String) throws(Fault) -> Identifier? {
        guard let text = values[name] else { return nil }
        guard let identifier = Identifier(text) else {
            throw Fault(detail: "\(name) is 1 to \(Identifier.bytesMax) printable ASCII characters without spaces.")
        }
        return identifier
    }

    /// One of Apple's words, of which tomorrow's are not known.
    func word(_ name: String) throws(Fault) -> String? {
        guard let text = values[name] else { return nil }
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Fault(detail: "\(name) is 1 to 255 printable ASCII characters without spaces.")
        }
        return text
    }

    /// A number without sign and leading zeros.
    func whole(_ name: String, _ range: ClosedRange<Int64>) throws(Fault) -> Int64? {
        guard let text = values[name] else { return nil }
        guard let number = TransactionID(text)?.number, range.contains(number) else {
            throw Fault(detail: "\(name) is a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Where a listing by time goes on.
    func place<ID>() throws(Fault) -> TimeCursor<ID>? {
        guard let text = values["after"] else { return nil }
        guard let cursor = TimeCursor<ID>(text: text) else { throw .otherPage }
        return cursor
    }

    func limit(_ most: Int) throws(Fault) -> Int {
        Int(try whole("limit", 1...Int64(most)) ?? Int64(min(100, most)))
    }

    /// On which side of the wall: `environment`, production if not given, and `test_signed`.
    func realm() throws(Fault) -> Realm {
        let environment = self["environment"].map(StoreEnvironment.init(rawValue:)) ?? .production
        guard StoreEnvironment.known.contains(environment), ["true", "false", nil].contains(self["test_signed"]) else {
            throw Fault(detail: "environment is a store, such as sandbox; test_signed is true or false.")
        }
        return Realm(environment: environment, isTestSigned: self["test_signed"] == "true")
    }

    /// The sides that are named; who names none hears of all, each with its `environment`.
    ///
    /// A store alone is what Apple vouches for there: who delivers by it is never handed what only a test authority has signed.
    /// `test_signed` alone is of all stores.
    func realms() throws(Fault) -> Set<Realm> {
        let named = try realm()
        if self["environment"] != nil { return [named] }
        guard self["test_signed"] != nil else { return Set(Realm.known) }
        return Set(Realm.known.filter { $0.isTestSigned == named.isTestSigned })
    }
}
