import Crypto
import PurchaseModel
import Testing
import Verification

@testable import Server

/// Which authorities an operator is warned of.
@Suite struct CertificateWatchTests {
    @Test(arguments: [(-1, true), (0, true), (1, false), (-91, false)])
    func oneThatEndsSoonIsWarnedOf(daysFromTheNotice days: Int, isWarnedOf: Bool) throws {
        let provided = try TrustAnchors.apple().sightings
        let one = try #require(provided.first { $0.role == .intermediate })
        let notice = CertificateWatch.notice + .seconds(days * 86_400)
        let now = one.facts.notAfter.advanced(by: .zero - notice)
        #expect(CertificateWatch.ending([one], at: now) == (isWarnedOf ? [one] : []))
    }
}
