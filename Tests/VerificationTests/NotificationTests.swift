import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// A notification's own signature does not make true what it carries: each fact is proved by itself.
@Suite struct NotificationTests {
    private static let other = SimulatedApp(bundleID: BundleID(checked: "com.example.other"), environment: .sandbox)

    /// A notification around any texts, rightly signed for the app under test.
    private func notification(
        transaction: String? = nil,
        renewal: String? = nil,
        by signer: PurchaseSigner = TestAuthority.signer(),
        change: (inout Payload) -> Void = { _ in }
    ) throws -> String {
        var payload = Payload.notification(
            Sample.notice(),
            of: signer.app,
            transaction: transaction,
            renewal: renewal
        )
        change(&payload)
        return try signer.sign(payload)
    }

    @Test func itsFactsArePartOfWhatIsProved() throws {
        let signer = TestAuthority.signer()
        let text = try signer.notification(Sample.fullNotice)
        let examination = try TestVerifier.simulated().examine(text)
        #expect(examination.reason == .addedRoot)
        let claims = try #require(examination.proof).fact.claims
        #expect(claims.transactions.map(\.id) == [Sample.id()])
        #expect(claims.notice?.transaction?.id == Sample.id())
        #expect(claims.notice?.renewal?.originalID == Sample.id())
        #expect(examination.outcomes(.nested) == [.passed, .passed])
    }

    @Test func aTestNotificationCarriesNothing() throws {
        let text = try notification()
        let examination = try TestVerifier.simulated().examine(text)
        #expect(examination.reason == .addedRoot)
        #expect(examination.proof?.fact.transactions == [])
        #expect(examination.outcomes(.nested) == [.skipped])
    }

    @Test func factsOfAnotherAppOrStoreDoNotBelongInIt() throws {
        let foreign = PurchaseSigner(TestAuthority.shared, app: Self.other)
        let production = TestAuthority.signer(.production)
        let table: [(String?, String?, String)] = [
            (try foreign.transaction(Sample.transaction()), nil, "bundle_id"),
            (try production.transaction(Sample.transaction()), nil, "environment"),
            (nil, try production.renewal(Sample.renewal), "environment"),
            (
                try TestAuthority.signer().transaction(Sample.transaction()), try production.renewal(Sample.renewal),
                "environment"
            ),
        ]
        for (transaction, renewal, field) in table {
            for refusesEarly in [false, true] {
                let text = try notification(transaction: transaction, renewal: renewal)
                let expecting = Expected(bundleID: TestAuthority.bundleID, refusesEarly: refusesEarly)
                let examination = try TestVerifier.simulated().examine(text, expecting: expecting)
                #expect(examination.reason == .nestedMismatch)
                #expect(examination.report.difference?.field == field)
                #expect(!examination.isProved && examination.isConsistent)
            }
        }
    }

    /// Each place has its kind of fact: a renewal info where a transaction belongs says nothing of a purchase.
    @Test func aFactInTheWrongPlaceIsRefused() throws {
        let signer = TestAuthority.signer()
        let transaction = try signer.transaction(Sample.transaction())
        let renewal = try signer.renewal(Sample.renewal)
        let whole = try notification()
        let download = try signer.appTransaction(Sample.download)
        for (first, second) in [
            (renewal, nil), (nil, transaction), (renewal, transaction), (whole, nil), (nil, whole), (download, nil),
        ] {
            let text = try notification(transaction: first, renewal: second)
            #expect(try TestVerifier.simulated().reason(text) == .nestedMismatch)
        }
    }

    @Test func aFactThatIsNotSignedIsRefused() throws {
        let signer = JWSSigner(try TestAuthority.shared.chain(.jws))
        let table: [(JWSFlaw, Reason)] = [
            (.algorithmNone, .jwsForm), (.algorithmNoneButSigned, .algorithmNotAllowed),
            (.payloadChanged, .signature), (.signatureOfZeros, .signature), (.certificatesMissing, .chainLength),
            (.payloadNotJSON, .jwsPayload), (.blankAtEnd, .jwsForm),
        ]
        for (flaw, reason) in table {
            let text = try notification(transaction: signer.sign(Sample.payload(), flaw: flaw))
            let examination = try TestVerifier.simulated().examine(text)
            #expect(examination.reason == reason)
            #expect(!examination.isProved)
        }
        for junk in ["", ".", "..", "eyJ", "null", #"{"transactionId":"1"}"#] {
            #expect(try TestVerifier.simulated().reason(notification(transaction: junk)) == .jwsForm)
        }
    }

    @Test func aFactOfAnotherAuthorityIsRefused() throws {
        let stranger = SimulatorAuthority(validity: AuthorityValidity(TestAuthority.moment...TestAuthority.moment))
        let theirs = PurchaseSigner(stranger, app: TestAuthority.app())
        let text = try notification(transaction: theirs.transaction(Sample.transaction()))
        #expect(try TestVerifier.simulated().reason(text) == .untrustedRoot)
        // The same with a fact that Xcode signed: it may not stand in what an App Store signed.
        let xcode = try TestAuthority.signer(.xcode).transaction(Sample.transaction())
        #expect(try TestVerifier.simulated().reason(notification(transaction: xcode)) == .nestedMismatch)
    }

    /// Two certificates of Xcode's, of which the operator knows one: what the other signed is not proved by it.
    @Test func aFactOfAnotherXcodeIsRefused() throws {
        let known = TestAuthority.signer(.xcode)
        let stranger = SimulatorAuthority(
            validity: AuthorityValidity(Timestamp(seconds: 1_577_836_800)...Timestamp(seconds: 2_208_988_800))
        )
        let unknown = PurchaseSigner(stranger, app: TestAuthority.app(.xcode))
        let verifier = try TestVerifier.fresh { anchors in
            anchors.addRoot(try TestAuthority.shared.identity(.xcodeJWS).certificate)
        }
        let right = try notification(transaction: known.transaction(Sample.transaction()), by: known)
        #expect(verifier.examine(right).isProved)
        let wrong = try notification(transaction: unknown.transaction(Sample.transaction()), by: known)
        #expect(verifier.reason(wrong) == .nestedMismatch)
        #expect(!verifier.examine(wrong).isProved)
    }

    /// Who names no app in its data names none: what it carries cannot stand in for it.
    @Test func aNotificationWithoutAnAppIsForNone() throws {
        let renewal = try TestAuthority.signer().renewal(Sample.renewal)
        let text = try notification(renewal: renewal) { payload in
            guard case .object(var data)? = payload["data"] else { return }
            data["bundleId"] = nil
            payload["data"] = .object(data)
        }
        let expecting = Expected(bundleID: TestAuthority.bundleID)
        let examination = try TestVerifier.simulated().examine(text, expecting: expecting)
        #expect(examination.reason == .foreignBundleID)
        #expect(!examination.isProved)
    }

    @Test func aNotificationAboutNothingIsForNobody() throws {
        let text = try notification { $0["data"] = nil }
        let expecting = Expected(bundleID: TestAuthority.bundleID, environments: [.sandbox])
        #expect(try TestVerifier.simulated().examine(text, expecting: expecting).reason == .foreignBundleID)
        let anybody = Expected(environments: [.sandbox])
        #expect(try TestVerifier.simulated().examine(text, expecting: anybody).reason == .environmentUnknown)
    }

    /// The four objects that may say whom a notification is about, and one that Apple has yet to add.
    @Test(arguments: [
        ("summary", #"{"bundleId":"com.example.simulated","environment":"Sandbox"}"#, StoreEnvironment.sandbox),
        ("appData", #"{"bundleId":"com.example.simulated","environment":"Production"}"#, .production),
        ("externalPurchaseToken", #"{"bundleId":"com.example.simulated","externalPurchaseId":"SANDBOX_1"}"#, .sandbox),
        (
            "externalPurchaseToken", #"{"bundleId":"com.example.simulated","externalPurchaseId":"1-SANDBOX"}"#,
            .production
        ),
        ("later", #"{"bundleId":"com.example.simulated","environment":"Sandbox","x":[{"bundleId":"y"}]}"#, .sandbox),
        ("later", #"{"bundleId":"com.example.simulated","environment":"Production","appAppleId":7}"#, .production),
    ])
    func everySubjectNamesAppAndStore(name: String, json: String, environment: StoreEnvironment) throws {
        let text = try Self.notification(about: #""\#(name)":\#(json)"#)
        let expecting = Expected(bundleID: TestAuthority.bundleID, environments: [environment])
        #expect(try TestVerifier.simulated().examine(text, expecting: expecting).isProved)
        let others: Set<StoreEnvironment> = Set(StoreEnvironment.known).subtracting([environment])
        let elsewhere = Expected(environments: others)
        #expect(try TestVerifier.simulated().examine(text, expecting: elsewhere).reason == .environmentNotAccepted)
    }

    /// Of one that is new no more is believed than of the four; and it counts only where it alone says it, at the top.
    @Test(arguments: [
        (#""later":{"bundleId":"com.example.other","environment":"Production"}"#, Reason.foreignBundleID),
        (#""later":{"bundleId":7,"environment":"Production"}"#, .foreignBundleID),
        (#""later":{"environment":"Production"}"#, .foreignBundleID),
        (#""later":{"bundleId":"com.example.simulated"}"#, .environmentUnknown),
        (#""later":{"bundleId":"com.example.simulated","environment":"Sandbox"}"#, .environmentNotAccepted),
        (
            #""later":{"bundleId":"com.example.simulated","environment":"Production","appAppleId":8}"#,
            .foreignAppleID
        ),
        (
            #""later":{"bundleId":"com.example.simulated","environment":"Production"},"latest":{"bundleId":"y"}"#,
            .foreignBundleID
        ),
        (
            #""later":{"bundleId":"com.example.simulated","environment":"Production"},"appData":{"bundleId":"y"}"#,
            .foreignBundleID
        ),
        (
            #""later":{"bundleId":"com.example.simulated","environment":"Production"},"appData":{}"#,
            .foreignBundleID
        ),
        (#""later":{"x":{"bundleId":"com.example.simulated","environment":"Production"}}"#, .foreignBundleID),
        (#""bundleId":"com.example.simulated","environment":"Production""#, .foreignBundleID),
    ])
    func aSubjectThatIsNewIsCheckedLikeAnyOther(members: String, reason: Reason) throws {
        let text = try Self.notification(about: members)
        let expecting = Expected(bundleID: TestAuthority.bundleID, appleID: 7, environments: [.production])
        let examination = try TestVerifier.simulated().examine(text, expecting: expecting)
        #expect(examination.reason == reason)
        #expect(!examination.isProved)
    }

    /// Signed, of a type that is new, and about these members.
    private static func notification(about members: String) throws -> String {
        let body =
            #"{"notificationType":"X","notificationUUID":"u","signedDate":\#(Sample.moment.milliseconds),"#
            + #"\#(members)}"#
        return try JWSSigner(TestAuthority.shared.chain(.jws)).sign(json: Array(body.utf8))
    }
}
