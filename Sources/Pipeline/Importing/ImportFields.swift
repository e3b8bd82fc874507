import Encoding
import PurchaseModel

/// One JSON object as a row.
enum JSONImportRow {
    static func claim(of line: [UInt8], _ columns: ImportColumns) -> Result<ImportRow.Claim, ImportRowFault> {
        let limits = JSONLimits(bytesMax: ImportReader.rowBytesMax, depthMax: 32)
        guard let document = try? JSONDocument(line, limits: limits), let object = document.root.object else {
            return .failure(.json)
        }
        /// A number of Apple's may stand there as a number.
        func text(_ names: [String], unless isNothing: ([UInt8]) -> Bool = { _ in false }) -> [UInt8]? {
            for name in names {
                guard let value = object[name] else { continue }
                let text = value.utf8.map { Array($0) } ?? value.int64.map { Array(String($0).utf8) } ?? []
                if !text.isEmpty, !isNothing(text) { return text }
            }
            return nil
        }
        var row = ImportFields(
            proof: text(columns.proof),
            transaction: text(columns.transaction),
            customer: text(columns.customer, unless: columns.isAnonymous),
            store: text(columns.storeNames),
            kind: text(columns.kind),
            isStoreNamed: columns.isStoreNamed
        )
        if case .transaction(let environment, let isTestSigned) = columns.reach {
            row.side = ImportFields.Side(
                environment: text([environment]),
                isTestSigned: object[isTestSigned]?.bool == true
            )
        }
        return row.claim
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
                let field = Self.trimmed(fields[place])
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
        }
        return row.claim
    }
}

/// What a row has, whatever it stood in. What is empty is not there.
private struct ImportFields {
    var proof: [UInt8]?
    var transaction: [UInt8]?
    var customer: [UInt8]?
    var store: [UInt8]?
    var kind: [UInt8]?
    /// Whether the column of the store was meant, and is not only called so.
    var isStoreNamed: Bool
    /// `nil` when the customer is of all that the proof holds.
    var side: Side?

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
        if let id, let side { claim.subject = ImportRow.Subject(id, in: side.realm) }
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
