import Pipeline
import PurchaseModel
import Storage
import Verification

/// Keeps the inventory of certificates, and warns of those that will soon vouch for nothing new.
struct CertificateWatch: Sendable {
    /// How long before its end an authority is warned of: time enough to wait for a release, and to install it.
    static let notice = Duration.seconds(90 * 86_400)

    let register: CertificateRegister
    /// What is trusted from the start.
    let provided: [CertificateSighting]
    let store: any Store
    let clock: any WallClock
    let reporter: Reporter

    /// Shows what is known, then writes what is new after each pause, until there is no other pause.
    func run(_ pause: @Sendable () async -> Bool) async {
        for sighting in provided { reporter.show(sighting) }
        let seen = (try? await store.read { reader throws(StoreFailure) in try reader.certificates() }) ?? []
        for certificate in seen { reporter.show(certificate) }
        var warnedAt: Timestamp?
        repeat {
            let now = clock.now
            if warnedAt.map({ $0.advanced(by: .seconds(86_400)) <= now }) ?? true {
                warn(at: now)
                warnedAt = now
            }
            await writeNew()
        } while await pause()
    }

    /// Writes what has gathered; also what came after the last pause.
    func writeNew() async {
        for sighting in await register.write(to: store) {
            reporter.show(sighting)
            reporter.report(new: sighting)
        }
    }

    /// Once a day. Those that are over already are kept for what they signed while they were valid.
    private func warn(at now: Timestamp) {
        for sighting in Self.ending(provided, at: now) { reporter.report(ending: sighting) }
    }

    static func ending(_ provided: [CertificateSighting], at now: Timestamp) -> [CertificateSighting] {
        provided.filter { now < $0.facts.notAfter && $0.facts.notAfter <= now.advanced(by: notice) }
    }
}
