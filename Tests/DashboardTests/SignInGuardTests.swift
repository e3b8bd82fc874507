import Dashboard
import PurchaseModel
import Storage
import Testing

/// Guessing is slow, and the owner is never locked out.
@Suite struct SignInGuardTests {
    private static let ann = AdminName(checked: "ann")
    private static let start = Timestamp(milliseconds: 1_000_000)

    private static func stranger(_ remote: String = "192.0.2.9", _ name: AdminName = ann) -> SignInGuard.Attempt {
        SignInGuard.Attempt(name: name, remote: remote, device: nil)
    }

    @Test func eachFailureAfterTheFreeOnesDoublesTheWait() {
        let guardian = SignInGuard()
        for _ in 0..<SignInGuard.freeOfAccount { #expect(guardian.begin(Self.stranger(), at: Self.start) == nil) }
        var now = Self.start
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            let wait = Duration.seconds(seconds)
            #expect(guardian.begin(Self.stranger(), at: now) == wait)
            now = now.advanced(by: wait)
            #expect(guardian.begin(Self.stranger(), at: now) == nil)
        }
    }

    @Test func manyAddressesShareTheWaitOfAnAccount() {
        let guardian = SignInGuard()
        for number in 0..<SignInGuard.freeOfAccount {
            #expect(guardian.begin(Self.stranger("192.0.2.\(number)"), at: Self.start) == nil)
        }
        #expect(guardian.begin(Self.stranger("198.51.100.1"), at: Self.start) != nil)
    }

    @Test func oneAddressIsSlowedDownOverAllAccounts() {
        let guardian = SignInGuard()
        for number in 0..<SignInGuard.freeOfRemote {
            let name = AdminName(checked: "name\(number)")
            #expect(guardian.begin(Self.stranger("192.0.2.9", name), at: Self.start) == nil)
        }
        #expect(guardian.begin(Self.stranger("192.0.2.9"), at: Self.start) != nil)
        #expect(guardian.begin(Self.stranger("192.0.2.8"), at: Self.start) == nil)
    }

    @Test func aBrowserThatIsKnownDoesNotWaitForOthers() {
        let guardian = SignInGuard()
        for _ in 0..<500 { _ = guardian.begin(Self.stranger(), at: Self.start) }
        let owner = SignInGuard.Attempt(name: Self.ann, remote: "192.0.2.9", device: [1, 2, 3])
        #expect(guardian.begin(owner, at: Self.start) == nil)
        guardian.succeeded(owner)
        // It is counted for itself.
        for _ in 0..<SignInGuard.freeOfAccount { #expect(guardian.begin(owner, at: Self.start) == nil) }
        #expect(guardian.begin(owner, at: Self.start) != nil)
    }

    @Test func aStrangerWaitsNoLongerThanAMinuteAndAllIsForgottenInTheEnd() {
        let guardian = SignInGuard()
        var now = Self.start
        for _ in 0..<100 {
            _ = guardian.begin(Self.stranger(), at: now)
            now = now.advanced(by: SignInGuard.waitMax)
        }
        #expect(guardian.begin(Self.stranger(), at: now) == nil)
        now = now.advanced(by: SignInGuard.memory + .seconds(1))
        for _ in 0..<SignInGuard.freeOfAccount { #expect(guardian.begin(Self.stranger(), at: now) == nil) }
    }
}
