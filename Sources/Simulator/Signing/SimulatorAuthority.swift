package import Crypto
package import PurchaseModel
import Synchronization

/// An authority of exactly Apple's shape that is not Apple's: what the simulator and all tests sign with.
///
/// Its members are made when they are first asked for, for an RSA key takes a tenth of a second and who needs only
/// StoreKit 2 needs none. What it signs is good for whoever trusts `roots()`, and for nobody else.
package final class SimulatorAuthority: Sendable {
    private let validity: AuthorityValidity
    private let state: Mutex<State>

    private struct State {
        var identities: [AuthorityMember: SigningIdentity] = [:]
        var foreign: SimulatorAuthority?
    }

    /// The moments at which what it signs holds. The last day is kept back: of what is done at one moment each act comes a
    /// little later than the one before.
    package var moments: ClosedRange<Timestamp> {
        let first = max(validity.leaves.lowerBound, validity.authorities.lowerBound)
        let last = min(validity.leaves.upperBound, validity.authorities.upperBound).advanced(by: .seconds(-86_400))
        return first...max(first, last)
    }

    /// A new authority with keys of its own.
    package init(validity: AuthorityValidity) {
        self.validity = validity
        state = Mutex(State())
    }

    /// The member's key and certificate. The lock is held while keys are made, so that everybody gets the same ones.
    package func identity(_ member: AuthorityMember) throws(CryptoError) -> SigningIdentity {
        let result = state.withLock { state -> Result<SigningIdentity, CryptoError> in
            Result { () throws(CryptoError) in try self.identity(member, &state) }
        }
        return try result.get()
    }

    /// What a right proof of this kind is signed with: the leaf's key, and leaf, intermediate and root.
    package func chain(_ family: SigningFamily) throws(CryptoError) -> SigningChain {
        let leaf = try identity(family.leaf)
        return SigningChain(
            key: leaf.key,
            signer: leaf.certificate,
            certificates: [
                leaf.certificate.der,
                try identity(family.intermediate).certificate.der,
                try identity(family.root).certificate.der,
            ]
        )
    }

    /// What Xcode signs with on a developer's own machine: one self-signed certificate.
    package func xcodeChain(_ member: AuthorityMember = .xcodeJWS) throws(CryptoError) -> SigningChain {
        let identity = try identity(member)
        return SigningChain(
            key: identity.key,
            signer: identity.certificate,
            certificates: [identity.certificate.der]
        )
    }

    /// DER of the two roots, of StoreKit 2 and of receipts: what a server must trust to accept all this.
    package func roots() throws(CryptoError) -> [[UInt8]] {
        [try identity(.jwsRoot).certificate.der, try identity(.receiptRoot).certificate.der]
    }

    /// DER of the certificates between receipts' leaves and their root: iOS 6 receipts do not carry them.
    package func intermediates() throws(CryptoError) -> [[UInt8]] {
        var intermediates: [[UInt8]] = []
        for member in [AuthorityMember.sha1Intermediate, .sha256Intermediate, .oldIntermediate] {
            intermediates.append(try identity(member).certificate.der)
        }
        return intermediates
    }

    /// Another authority with the same names and other keys: what an attacker can make.
    func foreign() -> SimulatorAuthority {
        state.withLock { state in
            let foreign = state.foreign ?? SimulatorAuthority(validity: validity)
            state.foreign = foreign
            return foreign
        }
    }

    /// All that decides the member's certificate.
    func recipe(_ member: AuthorityMember) throws(CryptoError) -> CertificateRecipe {
        let identity = try identity(member)
        let issuer = try self.identity(member.issuer)
        return CertificateRecipe(
            shape: CertificateShape(member),
            key: identity.key,
            notBefore: identity.certificate.fields.notBefore,
            notAfter: identity.certificate.fields.notAfter,
            issuer: CertificateShape(member.issuer).subject,
            issuerKey: issuer.key,
            authority: member.issuer == member ? nil : issuer.key.publicKey
        )
    }

    private func identity(
        _ member: AuthorityMember,
        _ state: inout State
    ) throws(CryptoError) -> SigningIdentity {
        if let known = state.identities[member] { return known }
        let shape = CertificateShape(member)
        let key = try PrivateKey(generate: shape.algorithm)
        let isSelfSigned = member.issuer == member
        let issuerKey = isSelfSigned ? key : try identity(member.issuer, &state).key
        let range = shape.isCA || isSelfSigned ? validity.authorities : validity.leaves
        let recipe = CertificateRecipe(
            shape: shape,
            key: key,
            notBefore: range.lowerBound.milliseconds,
            notAfter: range.upperBound.milliseconds,
            issuer: CertificateShape(member.issuer).subject,
            issuerKey: issuerKey,
            authority: isSelfSigned ? nil : issuerKey.publicKey
        )
        let identity = try recipe.issue()
        state.identities[member] = identity
        return identity
    }
}

// The folder in which an authority is kept. Who calls writes and reads it; the keys in it are secret.
extension SimulatorAuthority {
    /// Why files are no authority.
    package enum LoadingError: Error, Equatable, Sendable {
        case missing(file: String)
        case unreadable(file: String, CryptoError)
        /// The certificate is not of the key beside it, or its issuer did not sign it.
        case inconsistent(file: String)
    }

    /// All members as files: `<member>.der` is the certificate, `<member>.pem` the private key. Makes those that were
    /// not asked for yet.
    package func files() throws(CryptoError) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for member in AuthorityMember.allCases {
            let identity = try identity(member)
            files[member.rawValue + ".der"] = identity.certificate.der
            files[member.rawValue + ".pem"] = try identity.key.pem()
        }
        return files
    }

    /// An authority out of the files that ``files()`` gave; others beside them are left alone.
    package convenience init(files: [String: [UInt8]]) throws(LoadingError) {
        var identities: [AuthorityMember: SigningIdentity] = [:]
        for member in AuthorityMember.allCases {
            let (certificateName, keyName) = (member.rawValue + ".der", member.rawValue + ".pem")
            guard let der = files[certificateName] else { throw .missing(file: certificateName) }
            guard let pem = files[keyName] else { throw .missing(file: keyName) }
            let certificate: Certificate
            do { certificate = try Certificate(der: der) } catch { throw .unreadable(file: certificateName, error) }
            let key: PrivateKey
            do { key = try PrivateKey(pem: pem) } catch { throw .unreadable(file: keyName, error) }
            guard certificate.publicKey == key.publicKey else { throw .inconsistent(file: certificateName) }
            identities[member] = SigningIdentity(key: key, certificate: certificate)
        }
        for (member, identity) in identities {
            guard let issuer = identities[member.issuer], identity.certificate.isSigned(by: issuer.certificate) else {
                throw .inconsistent(file: member.rawValue + ".der")
            }
        }
        guard let root = identities[.jwsRoot], let leaf = identities[.jwsLeaf] else {
            throw .missing(file: AuthorityMember.jwsRoot.rawValue)
        }
        let validity = AuthorityValidity(
            authorities: try Self.range(of: root.certificate, .jwsRoot),
            leaves: try Self.range(of: leaf.certificate, .jwsLeaf)
        )
        self.init(validity: validity)
        state.withLock { $0.identities = identities }
    }

    private static func range(
        of certificate: Certificate,
        _ member: AuthorityMember
    ) throws(LoadingError) -> ClosedRange<Timestamp> {
        let first = Timestamp(milliseconds: certificate.fields.notBefore)
        let last = Timestamp(milliseconds: certificate.fields.notAfter)
        guard first <= last else { throw .inconsistent(file: member.rawValue + ".der") }
        return first...last
    }
}
