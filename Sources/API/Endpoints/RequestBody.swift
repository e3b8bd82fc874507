import Encoding
import HTTP
import PurchaseModel

/// A JSON object that a client sent, read strictly: a member that we do not know is an error, so that a typing mistake
/// never silently drops an order.
struct RequestBody {
    struct Fault: Error {
        let field: String?
        let detail: String

        /// 400 with the member at fault.
        var response: HTTPResponse {
            Problem.response(.badRequest, code: "invalid_request", detail: detail) { $0.member("field", field) }
        }
    }

    private let object: JSONObject

    /// What is wrong with giving something to a customer whom a path names: none comes to be under a word for nothing.
    static func fault(givingTo customer: CustomerID) -> Fault? {
        CustomerID(given: customer.text) == nil ? Fault(field: "id", detail: "\(CustomerID.rule).") : nil
    }

    init(_ body: [UInt8], members: Set<String>) throws(Fault) {
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(body, limits: JSONLimits(bytesMax: body.count, depthMax: 3))
        } catch {
            throw Fault(field: nil, detail: "The body is not JSON: \(error.description).")
        }
        guard let object = document.root.object else { throw Fault(field: nil, detail: "The body is no object.") }
        for (key, _) in object.members where !members.contains(key) {
            throw Fault(field: key, detail: "There is no such member.")
        }
        self.object = object
    }

    /// What is wrong with the body of a request that needs none: an empty one and `{}` are right.
    static func fault(unlessEmpty body: [UInt8]) -> Fault? {
        do throws(Fault) {
            _ = try RequestBody(optional: body, members: [])
            return nil
        } catch {
            return error
        }
    }

    /// The same of a request that needs none.
    init(optional body: [UInt8], members: Set<String>) throws(Fault) {
        try self.init(body.isEmpty ? Array("{}".utf8) : body, members: members)
    }

    /// A member that is there and not null.
    subscript(field: String) -> JSONValue? { object[field].flatMap { $0.isNull ? nil : $0 } }

    /// Whether a member is there at all, be it null.
    func has(_ field: String) -> Bool { object[field] != nil }

    /// What one member says, others would say otherwise.
    func refuse(_ others: [String], beside field: String) throws(Fault) {
        for other in others where has(other) {
            throw Fault(field: other, detail: "It does not stand beside \(field).")
        }
    }

    func identifier<Identifier: ASCIIIdentifier>(
        _ field: String,
        _ type: Identifier.Type = Identifier.self
    ) throws(Fault) -> Identifier? {
        guard let value = self[field] else { return nil }
        guard let text = value.string, let identifier = Identifier(given: text) else {
            throw Fault(field: field, detail: "\(Identifier.rule).")
        }
        return identifier
    }

    func text(_ field: String) throws(Fault) -> String? {
        guard let value = self[field] else { return nil }
        guard let text = value.string else { throw Fault(field: field, detail: "A string is needed.") }
        return text
    }

    func moment(_ field: String) throws(Fault) -> Timestamp? {
        guard let text = try text(field) else { return nil }
        guard let milliseconds = RFC3339.milliseconds(text) else {
            throw Fault(field: field, detail: "A moment such as 2026-02-28T12:00:00Z is needed.")
        }
        return Timestamp(milliseconds: milliseconds)
    }

    func whole(_ field: String, _ range: ClosedRange<Int64>) throws(Fault) -> Int64? {
        guard let value = self[field] else { return nil }
        guard value.kind == .number, let number = value.int64 ?? Self.whole(value.double), range.contains(number) else {
            throw Fault(
                field: field,
                detail: "A whole number from \(range.lowerBound) to \(range.upperBound) is needed."
            )
        }
        return number
    }

    /// `5.0` is a whole number as well; beyond 2^53 a double would not tell which.
    private static func whole(_ double: Double?) -> Int64? {
        guard let double, double.magnitude <= 0x1p53 else { return nil }
        return Int64(exactly: double)
    }

    func bool(_ field: String) throws(Fault) -> Bool? {
        guard let value = self[field] else { return nil }
        guard let bool = value.bool else { throw Fault(field: field, detail: "true or false is needed.") }
        return bool
    }

    /// A few short words.
    func words(_ field: String) throws(Fault) -> [String]? {
        guard let value = self[field] else { return nil }
        let words = value.array.map { $0.compactMap(\.string) }
        guard let words, words.count == value.array?.count, words.count <= Self.wordsMax else {
            throw Fault(field: field, detail: "A list of at most \(Self.wordsMax) strings is needed.")
        }
        return words
    }

    private static let wordsMax = 32

    func accountToken(_ field: String) throws(Fault) -> AccountToken? {
        guard let value = self[field] else { return nil }
        guard let halves = value.string.flatMap({ UUIDText.halves($0) }) else {
            throw Fault(field: field, detail: "A UUID with hyphens is needed.")
        }
        return AccountToken(high: halves.high, low: halves.low)
    }

    /// On which side of the wall: `environment`, production if not given, and `test_signed`.
    func realm() throws(Fault) -> Realm {
        var environment = StoreEnvironment.production
        if let text = try text("environment") {
            environment = StoreEnvironment(rawValue: text)
            guard StoreEnvironment.known.contains(environment) else {
                throw Fault(field: "environment", detail: "production, sandbox, xcode or local_testing is needed.")
            }
        }
        return Realm(environment: environment, isTestSigned: try bool("test_signed") ?? false)
    }

    static func needed<Value>(_ value: Value?, _ field: String) throws(Fault) -> Value {
        guard let value else { throw Fault(field: field, detail: "It is needed.") }
        return value
    }
}
