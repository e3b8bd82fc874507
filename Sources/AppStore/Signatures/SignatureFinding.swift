/// What is wrong with a merchant's signature, or odd about it. Stable words.
package enum SignatureFinding: String, Hashable, Sendable, CaseIterable {
    // How it is written.
    case notBase64 = "not_base64"
    /// The alphabet with `-` and `_`, where the other belongs.
    case urlAlphabet = "url_alphabet"
    /// Base64 of base64.
    case encodedTwice = "encoded_twice"
    /// r and s, 32 bytes each, where DER belongs.
    case rawSignature = "raw_signature"
    /// DER, where r and s belong.
    case derSignature = "der_signature"
    /// Neither form of an ECDSA signature.
    case notECDSA = "not_ecdsa"
    /// A JWS has three parts in base64url, the first two JSON objects.
    case notJWS = "not_jws"

    // What it says.
    case algorithm
    /// Another key's id than the one that is configured.
    case otherKeyID = "other_key_id"
    case otherIssuer = "other_issuer"
    case otherBundleID = "other_bundle_id"
    /// No `aud` that there is, such as that of API tokens.
    case audience
    /// A claim is missing, or of another type.
    case claim
    /// `request` is no base64 of a JSON object.
    case request
    case nonceNotUUID = "nonce_not_uuid"
    case nonceUpperCase = "nonce_upper_case"
    case emptyField = "empty_field"

    // When.
    case timestampInSeconds = "timestamp_in_seconds"
    case timestampInMilliseconds = "timestamp_in_milliseconds"
    /// More than 24 hours ago.
    case tooOld = "too_old"
    case fromTheFuture = "from_the_future"

    // The signature itself: it fits other bytes than it should.
    case separatorMissing = "separator_missing"
    /// Something else stands between the fields than U+2063.
    case otherSeparator = "other_separator"
    case signedUpperCaseNonce = "signed_upper_case_nonce"
    case signedUpperCaseAccount = "signed_upper_case_account"
    /// The account that the app gives StoreKit is not the one that was signed.
    case signedWithoutAccount = "signed_without_account"
    case signedSeconds = "signed_seconds"
    case productAndOfferSwapped = "product_and_offer_swapped"
    /// Some other key signed it, or something else was signed.
    case signatureMismatch = "signature_mismatch"

    /// One sentence for whoever has to mend it.
    package var sentence: String { SignatureFinding.sentences[self] ?? rawValue }

    private static let sentences: [SignatureFinding: String] = [
        .notBase64: "The signature is not base64.",
        .urlAlphabet: "The signature is in base64url; StoreKit takes the standard alphabet, with + and /.",
        .encodedTwice: "The signature was encoded in base64 twice.",
        .rawSignature: "The signature is r and s as 64 bytes; the older form of an offer needs DER.",
        .derSignature: "The signature is DER; a JWS needs r and s as 64 bytes (RFC 7518 § 3.4).",
        .notECDSA: "The signature is no ECDSA signature on P-256.",
        .notJWS: "It is not a compact JWS: three parts in base64url, the first two of them JSON objects.",
        .algorithm: "The header's alg must be ES256 and its typ JWT.",
        .otherKeyID: "The key id is not the one that is configured for this app.",
        .otherIssuer: "The issuer id is not the one that is configured for this app.",
        .otherBundleID: "The bundle id is not this app's.",
        .audience: "aud is none of promotional-offer, introductory-offer-eligibility and advanced-commerce-api.",
        .claim: "A claim that this kind of request needs is missing or of the wrong type.",
        .request: "The claim request must be standard base64 of a JSON object.",
        .nonceNotUUID: "The nonce is not a UUID.",
        .nonceUpperCase: "The nonce must be in lower case, where it is signed and where it is handed to StoreKit.",
        .emptyField: "The product and the offer must not be empty.",
        .timestampInSeconds: "The timestamp is in seconds; it must be in milliseconds.",
        .timestampInMilliseconds: "iat is in milliseconds; it must be in seconds.",
        .tooOld: "It was made more than 24 hours ago: StoreKit takes it no more.",
        .fromTheFuture: "It is dated in the future: the clock of whoever signed it is wrong.",
        .separatorMissing: "It was signed without the separators between the fields (U+2063).",
        .otherSeparator: "It was signed with another separator than U+2063 INVISIBLE SEPARATOR.",
        .signedUpperCaseNonce: "The nonce was signed in upper case; it must be signed in lower case.",
        .signedUpperCaseAccount: "The account token was signed in upper case; it must be signed in lower case.",
        .signedWithoutAccount:
            "It was signed without the account that the app gives to StoreKit, or without its separator.",
        .signedSeconds: "The timestamp was signed in seconds; it must be signed in milliseconds.",
        .productAndOfferSwapped: "Product and offer were signed in the wrong order.",
        .signatureMismatch: "The configured key did not sign this: another key did, or other values were signed.",
    ]
}
