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

    /// The files of a folder that hold a root of the simulator's, by the name that it gives itself.
    static func simulated(in folder: String) throws(Fault) -> [String] {
        try files(folder).filter { _, certificates in
            certificates.contains { $0.fields.subject.contains("Simulated") }
        }.map(\.path)
    }

    private static func read(_ folder: String) throws(Fault) -> [Certificate] {
        try files(folder).flatMap(\.certificates)
    }

    private static func files(_ folder: String) throws(Fault) -> [(path: String, certificates: [Certificate])] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .unreadableFolder(folder)
        }
        var files: [(path: String, certificates: [Certificate])] = []
        for name in names.sorted() where isCertificate(name) {
            let path = "\(folder)/\(name)"
            guard let data = FileManager.default.contents(atPath: path) else {
                throw .unreadableCertificate(path, "cannot be read")
            }
            let ders = ders(in: Array(data))
            guard !ders.isEmpty else { throw .unreadableCertificate(path, "there is none in it") }
            var certificates: [Certificate] = []
            do throws(CryptoError) {
                for der in ders { certificates.append(try Certificate(der: der)) }
            } catch {
                throw .unreadableCertificate(path, "\(error)")
            }
            files.append((path, certificates))
        }
        return files
    }

    private static func isCertificate(_ name: String) -> Bool {
        [".der", ".cer", ".crt", ".pem"].contains { name.hasSuffix($0) }
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
