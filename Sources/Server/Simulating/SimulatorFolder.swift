import Crypto
import Encoding
import FoundationEssentials
import PurchaseModel
import Simulator

/// The merchant's key for the Server API, as App Store Connect would give it.
struct MerchantKey: Sendable {
    /// Ten letters and digits.
    let id: String
    let issuerID: String
    let key: PrivateKey
    /// Of the PKCS #8 file.
    let path: String
}

/// What the simulator keeps: its authority, the certificates for who is to trust it, and the merchant's key. Everything
/// else of it is forgotten when it stops.
struct SimulatorFolder {
    private let path: String

    var roots: String { "\(path)/roots" }
    var certificates: String { "\(path)/certificates" }

    init(_ path: String) { self.path = path }

    /// The folder's authority, made at the first time. It signs whatever a store's clock may show; those that were made
    /// before it did end sooner.
    func authority() throws(Simulate.Fault) -> SimulatorAuthority {
        let authority = try keptAuthority()
        let (roots, intermediates): ([[UInt8]], [[UInt8]])
        do throws(CryptoError) {
            (roots, intermediates) = (try authority.roots(), try authority.intermediates())
        } catch {
            throw .cannotSign(error)
        }
        for (folder, ders) in [(self.roots, roots), (certificates, intermediates)] {
            try makeFolder(folder)
            for (index, der) in ders.enumerated() { try write(der, "\(folder)/simulated-\(index + 1).der") }
        }
        return authority
    }

    /// A population has lived for a year before the store begins.
    private static let validity: AuthorityValidity = {
        let first = StoreTime.range.lowerBound.advanced(by: .seconds(-2 * 365 * 86_400))
        return AuthorityValidity(first...StoreTime.range.upperBound.advanced(by: .seconds(86_400)))
    }()

    private func keptAuthority() throws(Simulate.Fault) -> SimulatorAuthority {
        let folder = "\(path)/authority"
        if FileManager.default.fileExists(atPath: folder) {
            let files = try read(folder)
            do throws(SimulatorAuthority.LoadingError) {
                return try SimulatorAuthority(files: files)
            } catch {
                throw .badAuthority(error)
            }
        }
        let authority = SimulatorAuthority(validity: Self.validity)
        let files: [String: [UInt8]]
        do throws(CryptoError) { files = try authority.files() } catch { throw .cannotSign(error) }
        // Under another name first: a folder that is there is whole.
        let unfinished = "\(folder).new"
        try? FileManager.default.removeItem(atPath: unfinished)
        try makeFolder(unfinished)
        for (name, bytes) in files { try write(bytes, "\(unfinished)/\(name)", isSecret: true) }
        guard (try? FileManager.default.moveItem(atPath: unfinished, toPath: folder)) != nil else {
            throw .cannotWrite(folder)
        }
        return authority
    }

    /// The folder's merchant key, made at the first time. Its id is made of the key, so that it stays.
    func merchantKey() throws(Simulate.Fault) -> MerchantKey {
        let file = "\(path)/merchant-key.p8"
        let key: PrivateKey
        if let pem = FileManager.default.contents(atPath: file) {
            do throws(CryptoError) { key = try PrivateKey(pem: Array(pem)) } catch { throw .badMerchantKey(file) }
        } else {
            do throws(CryptoError) { key = try PrivateKey(generate: .p256) } catch { throw .cannotSign(error) }
        }
        if !FileManager.default.fileExists(atPath: file) {
            guard let pem = try? key.pem() else { throw .cannotWrite(file) }
            try makeFolder(path)
            try write(pem, file, isSecret: true)
        }
        let digits = Hexadecimal.encode(Digest.sha256(key.publicKey.der).prefix(5))
        return MerchantKey(id: digits.uppercased(), issuerID: DemoCatalogue.issuerID, key: key, path: file)
    }

    private func read(_ folder: String) throws(Simulate.Fault) -> [String: [UInt8]] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .cannotRead(folder)
        }
        var files: [String: [UInt8]] = [:]
        for name in names {
            guard let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)") else {
                throw .cannotRead("\(folder)/\(name)")
            }
            files[name] = Array(bytes)
        }
        return files
    }

    private func makeFolder(_ folder: String) throws(Simulate.Fault) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .cannotWrite(folder)
        }
    }

    private func write(_ bytes: [UInt8], _ file: String, isSecret: Bool = false) throws(Simulate.Fault) {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: isSecret ? 0o600 : 0o644]
        guard FileManager.default.createFile(atPath: file, contents: Data(bytes), attributes: attributes) else {
            throw .cannotWrite(file)
        }
    }
}
