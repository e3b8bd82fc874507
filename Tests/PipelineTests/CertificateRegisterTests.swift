import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing
import Verification

/// The inventory of certificates: written once, apart from purchases.
@Suite struct CertificateRegisterTests {
    private let clock = ManualClock(Timestamp(milliseconds: 1_763_600_000_000))
    private let provided: [CertificateSighting]

    init() throws { provided = Array(try TrustAnchors.apple().sightings.prefix(3)) }

    @Test func eachIsWrittenOnceHoweverOftenItIsMet() async throws {
        let store = WatchedStore()
        let register = CertificateRegister(clock: clock)
        #expect(await register.write(to: store).isEmpty)
        #expect(store.writes == 0)
        register.note(Array(provided.prefix(2)))
        clock.advance(by: .seconds(60))
        register.note(provided)
        #expect(await register.write(to: store) == provided)
        register.note(provided)
        #expect(await register.write(to: store).isEmpty)
        #expect(store.writes == 1)
        let kept = try await store.read { reader throws(StoreFailure) in try reader.certificates() }
        #expect(kept.count == 3)
        #expect(kept.map(\.firstSeenAt.milliseconds) == [1_763_600_060_000, 1_763_600_000_000, 1_763_600_000_000])
        #expect(kept.first?.sha256 == provided[2].facts.sha256)
        #expect(kept.first?.vouchedBy == "apple")
    }

    /// After a restart, and beside another server, only what the ledger has not seen is new.
    @Test func whatTheLedgerKnowsIsNotNew() async throws {
        let store = WatchedStore()
        let (before, after) = (CertificateRegister(clock: clock), CertificateRegister(clock: clock))
        before.note(Array(provided.prefix(2)))
        _ = await before.write(to: store)
        after.note(provided)
        #expect(await after.write(to: store) == [provided[2]])
    }

    @Test func aStoreThatFailsIsTriedAgain() async throws {
        let store = WatchedStore()
        let register = CertificateRegister(clock: clock)
        register.note([provided[0]])
        store.fail(.full)
        #expect(await register.write(to: store).isEmpty)
        register.note([provided[1]])
        #expect(await register.write(to: store) == Array(provided.prefix(2)))
    }
}
