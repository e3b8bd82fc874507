import AppleFormats
import Encoding
import PurchaseModel

/// Says what a submission is: unwraps it, names its format and opens the envelope once. Decides nothing about trust.
struct Triage {
    /// What was taken off on the way in.
    private(set) var unwrapping = Unwrapping()
    /// The format, as soon as it is known: also of what then turns out to be broken.
    private(set) var format = ProofFormat.unknown
    /// The receipt or the token itself, once it was found.
    private(set) var content: [UInt8] = []
    /// What stands in `receipt-data` of the body of a request to verifyReceipt; of several, one in another, in the innermost.
    private(set) var receiptData: [UInt8]?

    /// - Throws: ``Refusal`` with a reason that is `malformed`, or `known_cracker`.
    mutating func open(_ bytes: [UInt8]) throws(Refusal) -> Evidence {
        var layer = bytes
        guard !layer.isEmpty else { throw Refusal(.empty) }
        while true {
            if Triage.looksEncoded(layer) { return try signedData(layer) }
            let text = Triage.trimmed(layer)
            guard let first = text.first else { throw Refusal(.empty) }
            if KnownCrackers.contains(text) { throw Refusal(.knownCracker, "a cracking tool's token") }
            if first == UInt8(ascii: "{"), OldPlist.isLikely(text) { return try plist(Array(text)) }
            if text.starts(with: Triage.beginOfJWS),
                let token = try jws(text.count == layer.count ? layer : Array(text))
            {
                return token
            }
            if let id = try transactionID(text) { return .transactionID(id) }
            let inner: [UInt8]?
            if first == UInt8(ascii: "{") {
                let document = try Triage.json(text)
                if let answer = try answer(document) { return answer }
                inner = unwrapping.member(of: document)
                if let inner, Unwrapping.isReceiptRequest(document) { receiptData = inner }
            } else {
                inner = unwrapping.unwrapped(text)
            }
            guard let inner else {
                throw Refusal(.unrecognised, "neither a receipt, nor a JWS, nor anything that holds one")
            }
            layer = inner
        }
    }

    private mutating func signedData(_ bytes: [UInt8]) throws(Refusal) -> Evidence {
        format = .appReceipt
        content = bytes
        do throws(FormatFault) {
            return .appReceipt(try SignedData(bytes))
        } catch {
            if case .truncated = error { throw Refusal(.truncated, error.sentence) }
            throw Refusal(.cmsForm, error.sentence)
        }
    }

    private mutating func plist(_ bytes: [UInt8]) throws(Refusal) -> Evidence {
        format = .transactionReceipt
        content = bytes
        do throws(FormatFault) {
            return .transactionReceipt(try PlistReceipt(bytes))
        } catch {
            throw Refusal(Triage.reason(ofPlist: error), error.sentence)
        }
    }

    /// Which part of an iOS 6 receipt could not be read.
    private static func reason(ofPlist fault: FormatFault) -> Reason {
        if case .unknownVersion = fault { return .signatureBlob }
        switch fault.field {
        case "signature": return .signatureBlob
        case "purchase-info": return .purchaseInfo
        default: return .plistForm
        }
    }

    /// - Returns: nil for a text without dots: other JSON in base64 begins like a JWS, too.
    private mutating func jws(_ bytes: [UInt8]) throws(Refusal) -> Evidence? {
        do throws(FormatFault) {
            let token = try CompactJWS(bytes)
            content = bytes
            return .jws(token)
        } catch {
            guard bytes.contains(UInt8(ascii: ".")) else { return nil }
            throw Refusal(.jwsForm, error.sentence)
        }
    }

    private mutating func transactionID(_ text: ArraySlice<UInt8>) throws(Refusal) -> TransactionID? {
        // Base64 of anything signed is longer than any number.
        guard text.count <= 40, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        format = .transactionID
        guard let id = TransactionID(String(decoding: text, as: UTF8.self)) else {
            throw Refusal(.transactionIDForm, "a number that no transaction has")
        }
        return id
    }

    private static func json(_ text: ArraySlice<UInt8>) throws(Refusal) -> JSONDocument {
        do throws(JSONFault) {
            return try JSONDocument(Array(text))
        } catch {
            throw Refusal(.answerForm, error.description)
        }
    }

    /// Apple's JSON answers: they hold no signature, and are told apart from bodies that merely wrap a proof.
    private mutating func answer(_ document: JSONDocument) throws(Refusal) -> Evidence? {
        guard let object = document.root.object else { return nil }
        do throws(FormatFault) {
            if object["notification_type"] != nil {
                format = .notificationV1
                return .notificationV1(try NotificationV1(document))
            }
            // An element of the App Store Server API's answers has a status, too, beside what Apple signed.
            if object["status"] != nil, !Unwrapping.wrapsSigned(object) {
                format = .verifyReceiptResponse
                return .verifyReceiptResponse(try VerifyReceiptResponse(document))
            }
        } catch {
            throw Refusal(.answerForm, error.sentence)
        }
        return nil
    }

    /// DER and BER begin with a SEQUENCE whose length is long or indefinite: a byte that no text begins its second
    /// character with.
    static func looksEncoded(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 2 && bytes[0] == 0x30 && bytes[1] >= 0x80
    }

    /// Base64 of `{"`.
    static let beginOfJWS = Array("ey".utf8)

    static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        var text = bytes[...]
        while let first = text.first, isSpace(first) { text.removeFirst() }
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }
}

extension FormatFault {
    /// For the operator: what is wrong, and where.
    var sentence: String {
        var sentence = reason
        if let field { sentence += " \(field)" }
        if let offset { sentence += " at byte \(offset)" }
        return sentence
    }
}
