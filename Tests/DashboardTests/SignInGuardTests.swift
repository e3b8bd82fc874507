import Dashboard
import HTTP
import PurchaseModel
import Storage
import Testing

/// Guessing is slow, and the owner is never locked out.
@Suite struct SignInGuardTests {
    private static let ann = AdminName(checked: "ann")
    private static let start = Timestamp(milliseconds: 1_000_000)

    private static func address(_ bytes: [UInt8]) -> HTTPRemote { HTTPRemote(address: bytes, port: 1) }

    private static func stranger(_ address: [UInt8] = [192, 0, 2, 9], _ name: AdminName = ann) -> SignInGuard.Attempt {
        SignInGuard.Attempt(name: name, remote: Self.address(address), device: nil)
    }

    /// One of many: an account and a network that no other has.
    private static func newcomer(_ number: Int) -> SignInGuard.Attempt {
        let name = AdminName(checked: "made-up\(number)")
        return stranger([10, UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)], name)
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
            #expect(guardian.begin(Self.stranger([192, 0, 2, UInt8(number)]), at: Self.start) == nil)
        }
        #expect(guardian.begin(Self.stranger([198, 51, 100, 1]), at: Self.start) != nil)
    }

    @Test func oneAddressIsSlowedDownOverAllAccounts() {
        let guardian = SignInGuard()
        for number in 0..<SignInGuard.freeOfRemote {
            let name = AdminName(checked: "name\(number)")
            #expect(guardian.begin(Self.stranger([192, 0, 2, 9], name), at: Self.start) == nil)
        }
        #expect(guardian.begin(Self.stranger([192, 0, 2, 9]), at: Self.start) != nil)
        #expect(guardian.begin(Self.stranger([192, 0, 2, 8]), at: Self.start) == nil)
    }

    /// One household has as many addresses of IPv6 as it likes.
    @Test func aNetworkOfIPv6IsSlowedDownAsOneAddress() {
        let guardian = SignInGuard()
        let network: [UInt8] = [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 1]
        for number in UInt8(0)..<UInt8(SignInGuard.freeOfRemote) {
            let attempt = Self.stranger(network + [0, 0, 0, 0, 0, 0, 0, number], AdminName(checked: "name\(number)"))
            #expect(guardian.begin(attempt, at: Self.start) == nil)
        }
        #expect(guardian.begin(Self.stranger(network + [9, 9, 9, 9, 9, 9, 9, 9]), at: Self.start) != nil)
        let other: [UInt8] = [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]
        #expect(guardian.begin(Self.stranger(other), at: Self.start) == nil)
    }

    /// Names made up without end do not clear the counts of who has to wait, and are let in as before.
    @Test func aFloodOfNamesFreesNobodyWhoHasToWait() {
        let guardian = SignInGuard()
        for _ in 0..<SignInGuard.freeOfAccount { #expect(guardian.begin(Self.stranger(), at: Self.start) == nil) }
        for number in 0..<SignInGuard.namesMax * 2 {
            #expect(guardian.begin(Self.newcomer(number), at: Self.start) == nil)
        }
        #expect(guardian.begin(Self.stranger(), at: Self.start) == .seconds(1))
    }

    /// Those whose time is over go first: whoever was counted since is not let off.
    @Test func whatIsOverMakesRoomFirst() {
        let guardian = SignInGuard()
        for number in 0..<SignInGuard.namesMax / 2 - 1 {
            #expect(guardian.begin(Self.newcomer(number), at: Self.start) == nil)
        }
        let later = Self.start.advanced(by: SignInGuard.memory + .seconds(1))
        let free = SignInGuard.freeOfAccount - 1
        for _ in 0..<free { #expect(guardian.begin(Self.stranger(), at: later) == nil) }
        for number in 0..<100 { #expect(guardian.begin(Self.newcomer(100_000 + number), at: later) == nil) }
        #expect(guardian.begin(Self.stranger(), at: later) == nil)
        #expect(guardian.begin(Self.stranger(), at: later) == .seconds(1))
    }

    /// Where most have to wait, further names are counted together, until those are over.
    @Test func whoComesWhenNoRoomIsLeftIsCountedWithAllOthers() {
        let guardian = SignInGuard()
        for number in 0..<SignInGuard.namesMax * 3 / 4 {
            let name = AdminName(checked: "name\(number)")
            let address = [11, UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)]
            for _ in 0..<SignInGuard.freeOfAccount {
                #expect(guardian.begin(Self.stranger(address, name), at: Self.start) == nil)
            }
        }
        for number in 0..<SignInGuard.freeOfAccount {
            #expect(guardian.begin(Self.newcomer(number), at: Self.start) == nil)
        }
        #expect(guardian.begin(Self.newcomer(100), at: Self.start) == .seconds(1))
        // One that was let in takes its try back, and no more.
        guardian.succeeded(Self.newcomer(0))
        #expect(guardian.begin(Self.newcomer(101), at: Self.start) == nil)
        #expect(guardian.begin(Self.newcomer(102), at: Self.start) == .seconds(1))
        let first = Self.stranger([192, 0, 2, 9], AdminName(checked: "name0"))
        #expect(guardian.begin(first, at: Self.start) != nil)
        let owner = SignInGuard.Attempt(name: Self.ann, remote: Self.address([192, 0, 2, 9]), device: [1, 2, 3])
        #expect(guardian.begin(owner, at: Self.start) == nil)
        let later = Self.start.advanced(by: SignInGuard.memory + .seconds(1))
        for number in 0..<100 { #expect(guardian.begin(Self.newcomer(number), at: later) == nil) }
    }

    @Test func aBrowserThatIsKnownDoesNotWaitForOthers() {
        let guardian = SignInGuard()
        for _ in 0..<500 { _ = guardian.begin(Self.stranger(), at: Self.start) }
        let owner = SignInGuard.Attempt(
            name: Self.ann,
            remote: Self.address([192, 0, 2, 9]),
            device: [1, 2, 3]
        )
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
