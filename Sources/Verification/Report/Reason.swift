/// Why a verdict is what it is: one stable word each, documented in `docs/verdicts.md`.
package enum Reason: String, Hashable, Sendable, CaseIterable {
    // genuine
    case verified
    /// Not signed; Apple's own server said so when it was asked.
    case answeredByApple = "answered_by_apple"

    // test_signed
    /// One self-signed certificate of StoreKit Testing in Xcode.
    case xcode = "xcode_certificate"
    /// A complete chain of Apple's shape under a root from the operator's folder.
    case addedRoot = "added_root"
    /// Not signed; a server that is not Apple's said so when it was asked.
    case answeredByTestServer = "answered_by_test_server"

    // not_yours
    case foreignBundleID = "foreign_bundle_id"
    case foreignAppleID = "foreign_apple_id"
    case environmentNotAccepted = "environment_not_accepted"
    case unknownProduct = "unknown_product"
    /// The proof does not contain the product that it was presented for.
    case otherProduct = "other_product"
    case foreignDevice = "foreign_device"
    /// Apple's server was asked, and knows of no such purchase of this app's.
    case unknownToApple = "unknown_to_apple"
    /// Genuine, and another customer's. It is not refused for that, and its sender is told by the decision.
    case ownedByAnother = "owned_by_another_customer"

    // forged
    case knownCracker = "known_cracker"
    case algorithmNotAllowed = "algorithm_not_allowed"
    case headerNotAllowed = "header_not_allowed"
    case chainLength = "chain_length"
    case certificateUnreadable = "certificate_unreadable"
    case untrustedRoot = "untrusted_root"
    case issuerMismatch = "issuer_mismatch"
    case certificateSignature = "certificate_signature"
    case certificateExtension = "certificate_extension"
    case intermediateNotCA = "intermediate_not_ca"
    case leafIsCA = "leaf_is_ca"
    case pathLength = "path_length"
    case keyUsage = "key_usage"
    case keyType = "key_type"
    case leafMarkerMissing = "leaf_marker_missing"
    case intermediateMarkerMissing = "intermediate_marker_missing"
    case certificateNotValid = "certificate_not_valid_at_signing"
    case signature = "signature_mismatch"
    case signerCount = "signer_count"
    case signerMissing = "signer_certificate_missing"
    case signedAttributes = "signed_attributes"
    case selfSigned = "self_signed"
    case nestedMismatch = "nested_mismatch"
    /// Apple's server was asked, and does not stand by it.
    case refusedByApple = "refused_by_apple"
    /// A version 1 notification whose sender does not know the app's shared secret.
    case sharedSecret = "shared_secret_mismatch"

    // malformed
    case empty
    case tooLarge = "too_large"
    case unrecognised
    case truncated
    case jwsForm = "jws_form"
    case jwsHeader = "jws_header"
    case jwsPayload = "jws_payload"
    case cmsForm = "cms_form"
    case receiptPayload = "receipt_payload"
    case plistForm = "plist_form"
    case signatureBlob = "signature_blob"
    case purchaseInfo = "purchase_info"
    case answerForm = "answer_form"
    /// An answer of Apple's that says that there is no purchase.
    case answerWithoutPurchase = "answer_without_purchase"
    case signingDate = "signing_date"
    case transactionIDForm = "transaction_id_form"
    case fieldMissing = "field_missing"
    case fieldOutOfRange = "field_out_of_range"
    /// Apple's server was asked, and cannot read it.
    case unreadableToApple = "unreadable_to_apple"

    // undecidable
    case intermediateMissing = "intermediate_missing"
    case unsignedAnswer = "unsigned_answer"
    case unsignedNotification = "unsigned_notification"
    case onlyAnID = "only_an_id"
    case environmentUnknown = "environment_unknown"
    /// A genuine receipt in which no purchase stands, yet or any more.
    case noPurchases = "no_purchases"

    package var verdict: Verdict {
        switch self {
        case .verified, .answeredByApple: .genuine
        case .xcode, .addedRoot, .answeredByTestServer: .testSigned
        case .foreignBundleID, .foreignAppleID, .environmentNotAccepted, .unknownProduct, .otherProduct,
            .foreignDevice, .unknownToApple, .ownedByAnother:
            .notYours
        case .knownCracker, .algorithmNotAllowed, .headerNotAllowed, .chainLength, .certificateUnreadable,
            .untrustedRoot, .issuerMismatch, .certificateSignature, .certificateExtension, .intermediateNotCA,
            .leafIsCA, .pathLength, .keyUsage, .keyType, .leafMarkerMissing, .intermediateMarkerMissing,
            .certificateNotValid, .signature, .signerCount, .signerMissing, .signedAttributes, .selfSigned,
            .nestedMismatch, .refusedByApple, .sharedSecret:
            .forged
        case .empty, .tooLarge, .unrecognised, .truncated, .jwsForm, .jwsHeader, .jwsPayload, .cmsForm,
            .receiptPayload, .plistForm, .signatureBlob, .purchaseInfo, .answerForm, .answerWithoutPurchase,
            .signingDate,
            .transactionIDForm, .fieldMissing, .fieldOutOfRange, .unreadableToApple:
            .malformed
        case .intermediateMissing, .unsignedAnswer, .unsignedNotification, .onlyAnID, .environmentUnknown,
            .noPurchases:
            .undecidable
        }
    }

    /// What a caller from outside is told: enough to act upon, too little to learn which check to evade.
    package var publicWord: PublicReason {
        switch verdict {
        case .genuine: .accepted
        case .notYours:
            switch self {
            case .environmentNotAccepted: .environmentNotAccepted
            case .otherProduct: .otherProduct
            default: .notForThisApp
            }
        case .testSigned: .testPurchase
        case .forged: .notAuthentic
        case .malformed: self == .tooLarge ? .tooLarge : .unreadable
        case .undecidable: .pending
        }
    }
}

/// The few reasons that our HTTP API tells. Stable words.
package enum PublicReason: String, Hashable, Sendable, CaseIterable {
    case accepted
    case notForThisApp = "not_for_this_app"
    case environmentNotAccepted = "environment_not_accepted"
    case otherProduct = "other_product"
    case testPurchase = "test_purchase"
    case notAuthentic = "not_authentic"
    case tooLarge = "too_large"
    case unreadable
    case pending
}
