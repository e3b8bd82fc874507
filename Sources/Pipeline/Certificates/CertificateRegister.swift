package import PurchaseModel
package import Storage
import Synchronization
package import Verification

/// The inventory of the certificates that proofs come with: what verification meets is gathered in memory, and written
/// apart from purchases, once for each certificate.
///
/// Only chains that hold are noted, so that nobody fills it who has no authority of his own.
package final class CertificateRegister: Sendable {
    /// What a test authority may give out; past it, what is new is not noted.
    static let gatheredMax = 1_000

    private struct State {
        var known: Set<[UInt8]> = []
        var unwritten: [(sighting: CertificateSighting, moment: Timestamp)] = []
    }

    private let state = Mutex(State())
    private let clock: any WallClock

    package init(clock: any WallClock) { self.clock = clock }

    /// Notes a chain's certificates; writes nothing.
    package func note(_ sightings: [CertificateSighting]) {
        let now = clock.now
        state.withLock { state in
            for sighting in sightings where state.known.count < Self.gatheredMax {
                guard state.known.insert(sighting.facts.sha256).inserted else { continue }
                state.unwritten.append((sighting, now))
            }
        }
    }

    /// Writes what has gathered; without anything new nothing is written. When the store fails, the next call tries again.
    ///
    /// - Returns: those that this ledger had not seen, in the order of their coming.
    package func write(to store: any Store) async -> [CertificateSighting] {
        let gathered = state.withLock { state in
            defer { state.unwritten = [] }
            return state.unwritten
        }
        guard !gathered.isEmpty else { return [] }
        do throws(StoreFailure) {
            return try await store.write { transaction throws(StoreFailure) in
                var new: [CertificateSighting] = []
                for (sighting, moment) in gathered {
                    do throws(StoreFailure) {
                        if try transaction.noteCertificate(Self.row(sighting, moment)) { new.append(sighting) }
                    } catch .unstorable {
                        // A test authority may write what it likes into a name.
                        continue
                    }
                }
                return new
            }
        } catch {
            state.withLock { $0.unwritten = gathered + $0.unwritten }
            return []
        }
    }

    private static func row(_ sighting: CertificateSighting, _ moment: Timestamp) -> SeenCertificate {
        SeenCertificate(
            sha256: sighting.facts.sha256,
            role: sighting.role.rawValue,
            vouchedBy: sighting.voucher == .apple ? "apple" : "added_root",
            subject: sighting.facts.subject,
            issuer: sighting.facts.issuer,
            serial: sighting.facts.serial,
            notBefore: sighting.facts.notBefore,
            notAfter: sighting.facts.notAfter,
            firstSeenAt: moment
        )
    }
}
