extension Reason {
    /// What it means, in a sentence for people: as `docs/verdicts.md` says it.
    package var meaning: String { Self.meanings[self] ?? rawValue }

    private static let meanings: [Reason: String] = [
        .verified: "Everything held.",
        .answeredByApple: "Not signed: one of Apple's own hosts said so over TLS when Assay asked it.",
        .xcode:
            "One self-signed certificate, as StoreKit Testing in Xcode makes it, over data that "
            + "says so. Counts for nothing unless the operator added that very certificate.",
        .addedRoot: "A complete chain of Apple's shape, under a root from the operator's folder.",
        .answeredByTestServer:
            "Not signed: a server that is not Apple's, such as the simulator, said so when Assay "
            + "asked it.",
        .foreignBundleID:
            "The signed bundle id is another app's. By far the most common forgery: a genuine "
            + "receipt of another app.",
        .foreignAppleID:
            "The signed App Store number of the app is another one (Production only: Sandbox "
            + "does not sign it).",
        .environmentNotAccepted: "A sandbox purchase, say, for an app that takes only Production.",
        .unknownProduct: "None of the products is in the app's catalogue.",
        .otherProduct: "The proof does not contain the product that it was presented for.",
        .foreignDevice: "The receipt's device hash does not fit the device id that was given.",
        .unknownToApple: "Apple's server was asked, and knows of no such purchase of this app's.",
        .ownedByAnother: "Genuine, and another customer presented it first, or only its number was shown.",
        .knownCracker: "The token of a known cracking tool in place of a receipt.",
        .algorithmNotAllowed:
            "Not ES256, or not RSA with SHA-1 or SHA-256; or a certificate that is signed in "
            + "another way than Apple does.",
        .headerNotAllowed: "A JWS header with crit, jwk, jku, x5u, b64, zip or the like.",
        .chainLength: "Not exactly three certificates in x5c, or more in a receipt than any needs.",
        .certificateUnreadable:
            "A certificate that is not strict DER, carries anything behind it, or is longer than "
            + "any of Apple's.",
        .untrustedRoot: "The chain does not end in a pinned root.",
        .issuerMismatch: "A certificate names another issuer than the next one.",
        .certificateSignature: "A certificate was not signed by the key of the next one.",
        .certificateExtension: "A critical extension that is not understood.",
        .intermediateNotCA: "An issuer that is no authority.",
        .leafIsCA: "The signer is itself an authority.",
        .pathLength: "More authorities in a row than one of them allows.",
        .keyUsage: "A key that may not be used for this.",
        .keyType: "Not P-256 (JWS) or RSA of enough bits (receipts).",
        .leafMarkerMissing:
            "The signer is not one of Apple's receipt signers (OID 1.2.840.113635.100.6.11.1, "
            + "or 6.5.1 for iOS 6 version 2).",
        .intermediateMarkerMissing:
            "The authority is not the one for receipts (OID …6.2.1, or 6.2.2 for iOS 6 version "
            + "2).",
        .certificateNotValid: "Not valid at the moment at which the proof says that it was signed.",
        .signature: "The signer's key did not sign these bytes.",
        .signerCount: "Not exactly one signer.",
        .signerMissing: "The signer's certificate is not there.",
        .signedAttributes: "A CMS signature over attributes: Apple signs the content itself.",
        .selfSigned: "A certificate that vouches for itself, and is not Xcode's.",
        .nestedMismatch:
            "A notification whose inner facts are signed for another app or environment, or by "
            + "somebody else, than its outside.",
        .refusedByApple: "Apple's server was asked, and does not stand by it (21003).",
        .sharedSecret: "A version 1 notification whose sender does not know the app's shared secret.",
        .empty: "Nothing there.",
        .tooLarge: "Longer than is looked at. The public word is too_large.",
        .unrecognised: "No known format, in no known wrapping.",
        .truncated: "The end of an app receipt is missing.",
        .jwsForm: "The part of a JWS that cannot be read.",
        .jwsHeader: "The part of a JWS that cannot be read.",
        .jwsPayload: "The part of a JWS that cannot be read.",
        .cmsForm: "The part of an app receipt that cannot be read.",
        .receiptPayload: "The part of an app receipt that cannot be read.",
        .plistForm: "The part of an iOS 6 receipt that cannot be read.",
        .signatureBlob: "The part of an iOS 6 receipt that cannot be read.",
        .purchaseInfo: "The part of an iOS 6 receipt that cannot be read.",
        .answerForm: "A JSON document that is not one.",
        .answerWithoutPurchase: "One of Apple's answers, and it says that there is no purchase.",
        .signingDate: "No moment of signing in the signed bytes.",
        .transactionIDForm: "A transaction id that is not a number.",
        .fieldMissing: "A field that must be there, or fit.",
        .fieldOutOfRange: "A field that must be there, or fit.",
        .unreadableToApple: "Apple's server was asked again and again, and cannot read it (21002).",
        .intermediateMissing:
            "The certificate that issued the signer is not known, or only with another key. iOS "
            + "6 receipts do not carry it.",
        .unsignedAnswer: "An answer of verifyReceipt: nothing in it is signed.",
        .unsignedNotification: "A version 1 notification: the same.",
        .onlyAnID: "A bare transaction id.",
        .environmentUnknown: "An old proof that does not say which store it is from.",
        .noPurchases: "A genuine receipt in which no purchase stands, yet or any more.",
    ]
}
