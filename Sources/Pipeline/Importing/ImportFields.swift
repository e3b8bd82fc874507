import Encoding
import PurchaseModel

/// One JSON object as a row.
enum JSONImportRow {
    static func claim(of line: [UInt8], _ columns: ImportColumns) -> Result<ImportRow.Claim, ImportRowFault> {
        let limits = JSONLimits(bytesMax: ImportReader.rowBytesMax, depthMax: 32)
        guard let document = try? JSONDocument(line, limits: limits), let object = document.root.object else {
            return .failure(.json)
        }
        /// As it stands there; a string as what it says. Only `null` and an empty string are nothing.
        func text(
            _ names: [String],
            as text: (JSONValue) -> [UInt8] = { Array($0.utf8 ?? $0.raw) },
            unless isNothing: ([UInt8]) -> Bool = { $0.isEmpty }
        ) -> [UInt8]? {
            for name in names {
                guard let value = object[name], !value.isNull, value.utf8?.isEmpty != true else { continue }
                let text = text(value)
                if !isNothing(text) { return text }
            }
            return nil
        }
        var row = ImportFields(
            proof: text(columns.proof, as: proof),
            transaction: text(columns.transaction),
            customer: text(columns.customer, as: customer, unless: columns.isAnonymous),
            store: text(columns.storeNames),
            kind: text(columns.kind),
            isStoreNamed: columns.isStoreNamed
        )
        if case .transaction(let environment, let isTestSigned) = columns.reach {
            row.side = ImportFields.Side(
                environment: text([environment]),
                isTestSigned: object[isTestSigned]?.bool == true
            )
            let fulfilment = object[ExportedFulfilment.name]?.object
            row.exported = ExportedFulfilment { member in
                fulfilment?[member].map { String(decoding: Array($0.utf8 ?? $0.raw), as: UTF8.self) }
            }
        }
        return row.claim
    }

    /// Empty if it can be none: an answer of verifyReceipt has an object as `receipt`, and its proof as `latest_receipt`.
    private static func proof(_ value: JSONValue) -> [UInt8] {
        value.kind == .object || value.kind == .array ? [] : Array(value.utf8 ?? value.raw)
    }

    /// Empty if it is no name. A whole number is one by its digits; `42.0` need not be who is called 42.
    private static func customer(_ value: JSONValue) -> [UInt8] {
        if let name = value.utf8 { return Array(name) }
        let isWhole = value.kind == .number && !value.raw.contains { ".eE".utf8.contains($0) }
        return isWhole ? Array(value.raw) : []
    }
}

extension ImportHeader {
    func claim(
        of record: [UInt8],
        _ style: DelimitedText.Style,
        _ columns: ImportColumns
    ) -> Result<ImportRow.Claim, ImportRowFault> {
        let fields: [[UInt8]]
        do throws(DelimitedText.Fault) {
            fields = try DelimitedText.fields(of: record, style)
        } catch {
            return .failure(error == .quote ? .quote : .tooManyFields)
        }
        guard fields.count == count else { return .failure(.fieldCount) }
        func text(_ places: [Int], unless isNothing: ([UInt8]) -> Bool = { _ in false }) -> [UInt8]? {
            for place in places {
                // Nothing that is read of a table begins or ends with a blank.
                let trimmed = Array(DelimitedText.trimmed(fields[place][...]))
                let field = columns.isOurs ? DelimitedText.unshielded(trimmed) : trimmed
                if !field.isEmpty, !isNothing(field) { return field }
            }
            return nil
        }
        var row = ImportFields(
            proof: text(proof),
            transaction: text(transaction),
            customer: text(customer, unless: columns.isAnonymous),
            store: text(store),
            kind: text(kind),
            isStoreNamed: columns.isStoreNamed
        )
        if namesSubject {
            row.side = ImportFields.Side(
                environment: text(environment),
                isTestSigned: text(isTestSigned)?.elementsEqual("true".utf8) == true
            )
            row.exported = ExportedFulfilment { member in
                exported[member].flatMap { text([$0]) }.map { String(decoding: $0, as: UTF8.self) }
            }
        }
        return row.claim
    }
}

/// What a row has, whatever it stood in; `nil` is what is not there.
private struct ImportFields {
    var proof: [UInt8]?
    var transaction: [UInt8]?
    /// Empty where something stands that is no name.
    var customer: [UInt8]?
    var store: [UInt8]?
    var kind: [UInt8]?
    /// Whether the column of the store was meant, and is not only called so.
    var isStoreNamed: Bool
    /// `nil` when the customer is of all that the proof holds.
    var side: Side?
    var exported: ExportedFulfilment?

    struct Side {
        var environment: [UInt8]?
        var isTestSigned: Bool
    }

    var claim: Result<ImportRow.Claim, ImportRowFault> {
        if let store {
            let word = String(decoding: store, as: UTF8.self).lowercased()
            let isApples =
                isStoreNamed
                ? ImportColumns.appleStores.contains(word) : !ImportColumns.otherStores.contains(word)
            guard isApples else { return .failure(.otherStore) }
        }
        if proof == nil, let transaction, ImportColumns.isOfOtherStore(transaction) { return .failure(.otherStore) }
        if let kind {
            let word = ExportKind(rawValue: String(decoding: kind, as: UTF8.self))
            guard word == .transaction || word == .evidence else { return .failure(.otherKind) }
        }
        var owner: CustomerID?
        if let customer {
            owner = CustomerID(given: String(decoding: customer, as: UTF8.self))
            guard owner != nil else { return .failure(.customer) }
        }
        guard let proof = proof ?? transaction else { return .failure(.noProof) }
        let id = transaction.flatMap { TransactionID(digits: $0.span) }
        guard id != nil || self.proof != nil && side == nil else { return .failure(.transactionID) }
        var claim = ImportRow.Claim(proof: proof, customer: owner)
        if let id, let side { (claim.subject, claim.exported) = (ImportRow.Subject(id, in: side.realm), exported) }
        return .success(claim)
    }
}

extension ImportFields.Side {
    fileprivate var realm: Realm? {
        environment.map { word in
            let environment = StoreEnvironment(rawValue: String(decoding: word, as: UTF8.self))
            return Realm(environment: environment, isTestSigned: isTestSigned)
        }
    }
}
