import PurchaseModel

/// Checks Apple's values on their way into our own types, and names the field when one does not fit.
enum FieldReader {
    static func required<Value>(_ value: Value?, _ field: String) throws(Refusal) -> Value {
        guard let value else { throw Refusal(.fieldMissing, "\(field) is missing") }
        return value
    }

    static func transactionID(_ text: String?, _ field: String) throws(Refusal) -> TransactionID {
        let text = try required(text, field)
        guard let id = TransactionID(text) else { throw Refusal(.transactionIDForm, "\(field) is not a number") }
        return id
    }

    static func optionalTransactionID(_ text: String?, _ field: String) throws(Refusal) -> TransactionID? {
        guard let text, !text.isEmpty else { return nil }
        return try transactionID(text, field)
    }

    static func product(_ text: String?, _ field: String = "product_id") throws(Refusal) -> ProductID {
        let text = try required(text, field)
        guard let product = ProductID(text) else { throw Refusal(.fieldOutOfRange, "\(field) is not an id") }
        return product
    }

    static func moment(_ milliseconds: Int64?, _ field: String) throws(Refusal) -> Timestamp {
        Timestamp(milliseconds: try required(milliseconds, field))
    }

    /// The moment of signing, without which no certificate can be judged.
    static func signingMoment(_ milliseconds: Int64?, _ field: String) throws(Refusal) -> Timestamp {
        guard let milliseconds else { throw Refusal(.signingDate, "\(field) is missing") }
        return Timestamp(milliseconds: milliseconds)
    }

    /// 1 when absent; Apple sells at most ten at a time, and nothing beyond 32 bits is a number of goods.
    static func quantity(_ number: Int64?) throws(Refusal) -> Int {
        guard let number else { return 1 }
        guard (1...Int64(Int32.max)).contains(number) else {
            throw Refusal(.fieldOutOfRange, "quantity is \(number)")
        }
        return Int(number)
    }
}

extension StoreEnvironment {
    /// Apple's words for environments and receipt types; a word that we do not know is kept in lower case. One that
    /// would become a word of ours that way is marked: Apple's words are told apart by their case.
    init(apple word: String) {
        switch word {
        case "Production", "ProductionVPP", "PROD": self = .production
        case "Sandbox", "ProductionSandbox", "ProductionVPPSandbox": self = .sandbox
        case "Xcode": self = .xcode
        case "LocalTesting": self = .localTesting
        default:
            let other = StoreEnvironment(rawValue: word.lowercased())
            self.init(rawValue: StoreEnvironment.known.contains(other) ? "apple_" + other.rawValue : other.rawValue)
        }
    }
}
