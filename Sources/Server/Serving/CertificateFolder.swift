import Crypto
import Encoding
import FoundationEssentials
import Verification

/// The operator's own certificates: a folder of `.der`, `.cer`, `.crt` and `.pem` files.
enum CertificateFolder {
    enum Fault: Error, CustomStringConvertible {
        case unreadableFolder(String)
        case unreadableCertificate(String, String)
        case builtIn(String)

        var description: String {
            switch self {
            case .unreadableFolder(let path): "\(path): no folder that can be read"
            case .unreadableCertificate(let path, let why): "\(path): no certificate: \(why)"
            case .builtIn(let why): "the built-in certificates cannot be read: \(why)"
            }
        }
    }

    /// Apple's own, and what the folders add: roots that are trusted for tests, intermediates that proofs do not carry.
    static func anchors(roots: String?, certificates: String?) throws(Fault) -> TrustAnchors {
        var anchors: TrustAnchors
        do throws(CryptoError) {
            anchors = try TrustAnchors.apple()
        } catch {
            throw .builtIn("\(error)")
        }
        if let roots {
            for certificate in try read(roots) { anchors.addRoot(certificate) }
        }
        if let certificates {
            for certificate in try read(certificates) { anchors.addIntermediate(certificate) }
        }
        return anchors
    }

    /// The files of a folder that hold a root of the simulator's, by the name that it gives itself. What cannot be read is
    /// passed over.
    static func simulated(in folder: String) -> [String] {
        let paths = try? paths(folder)
        return (paths ?? []).filter { path in
            let certificates = try? certificates(path)
            return certificates?.contains { $0.fields.subject.contains("Simulated") } == true
        }
    }

    /// All that is wrong with a folder.
    static func faults(in folder: String) -> [Fault] {
        var faults: [Fault] = []
        do throws(Fault) {
            for path in try paths(folder) {
                do throws(Fault) { _ = try certificates(path) } catch { faults.append(error) }
            }
        } catch {
            faults.append(error)
        }
        return faults
    }

    private static func read(_ folder: String) throws(Fault) -> [Certificate] {
        try paths(folder).map { path throws(Fault) in try certificates(path) }.flatMap(\.self)
    }

    private static func paths(_ folder: String) throws(Fault) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .unreadableFolder(folder)
        }
        return names.sorted().filter(isCertificate).map { "\(folder)/\($0)" }
    }

    private static func certificates(_ path: String) throws(Fault) -> [Certificate] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw .unreadableCertificate(path, "cannot be read")
        }
        let ders = ders(in: Array(data))
        guard !ders.isEmpty else { throw .unreadableCertificate(path, "there is none in it") }
        do throws(CryptoError) {
            return try ders.map { der throws(CryptoError) in try Certificate(der: der) }
        } catch {
            throw .unreadableCertificate(path, "\(error)")
        }
    }

    private static func isCertificate(_ name: String) -> Bool {
        let lowercase = name.lowercased()
        return [".der", ".cer", ".crt", ".pem"].contains { lowercase.hasSuffix($0) }
    }

    /// The bytes themselves, or every certificate of a PEM file: each of them, or none when one is damaged.
    private static func ders(in bytes: [UInt8]) -> [[UInt8]] {
        guard bytes.first != 0x30 else { return [bytes] }
        var ders: [[UInt8]] = []
        var text: [UInt8]?
        for line in bytes.split(separator: 0x0A) {
            if line.starts(with: Array("-----BEGIN CERTIFICATE-----".utf8)) {
                text = []
            } else if line.starts(with: Array("-----END CERTIFICATE-----".utf8)) {
                guard let whole = text, let der = try? Base64.decode(whole, .standard, padding: .required) else {
                    return []
                }
                ders.append(der)
                text = nil
            } else {
                text?.append(contentsOf: line.filter { $0 != 0x0D })
            }
        }
        return ders
    }
}
