import Crypto
import Encoding
import FoundationEssentials
import PurchaseModel
import Verification

/// `assay verify`: examines files offline and explains.
struct Verify {
    /// What is asked for; see the help for the flags.
    struct Options {
        var files: [String] = []
        var isJSON = false
        var expecting = Expectation()
        var roots: String?
        var certificates: String?
    }

    /// The largest file that is read: a receipt of many years has less than a megabyte.
    private static let bytesMax = 16 * 1_024 * 1_024

    let options: Options

    /// - Returns: 0 when all were genuine, 1 when any was not, 2 when something could not be read or written.
    func run() -> Int32 {
        let verifier: Verifier
        do {
            verifier = Verifier(
                anchors: try CertificateFolder.anchors(roots: options.roots, certificates: options.certificates),
                bytesMax: Verify.bytesMax
            )
        } catch {
            Console.error("assay verify: \(error)")
            return 2
        }
        var code: Int32 = 0
        for file in options.files {
            guard let bytes = Verify.read(file) else {
                Console.error("assay verify: \(ReportText.printable(file)): cannot be read, or is larger than 16 MiB")
                code = 2
                continue
            }
            let report = verifier.examine(bytes, expecting: options.expecting).report
            let text =
                options.isJSON
                ? ReportJSON.line(file: file, report) + [0x0A] : Array(ReportText.lines(file: file, report).utf8)
            guard Console.write(text) else {
                Console.error("assay verify: standard output cannot be written")
                return 2
            }
            if report.verdict != .genuine, code == 0 { code = 1 }
        }
        return code
    }

    private static func read(_ file: String) -> [UInt8]? {
        guard let bytes = try? OpenFile.named(file).read(upTo: bytesMax + 1) else { return nil }
        return bytes.count > bytesMax ? nil : bytes
    }
}

extension Verify.Options {
    /// What the command line asks for.
    init(_ arguments: Arguments) throws(UsageFault) {
        files = arguments.positionals
        isJSON = arguments.isSet("json")
        roots = arguments.value("roots")
        certificates = arguments.value("certificates")
        if let text = arguments.value("bundle-id") {
            guard let bundleID = BundleID(text) else { throw UsageFault("--bundle-id is no bundle id") }
            expecting.bundleID = bundleID
        }
        if let text = arguments.value("environment") {
            guard text == "production" || text == "sandbox" else {
                throw UsageFault("--environment is production or sandbox")
            }
            expecting.environments = [StoreEnvironment(rawValue: text)]
        }
        if let text = arguments.value("at") {
            guard let milliseconds = RFC3339.milliseconds(text) else {
                throw UsageFault("--at is a moment such as 2024-02-29T12:00:00Z")
            }
            expecting.moment = Timestamp(milliseconds: milliseconds)
        }
        if let text = arguments.value("device-id") {
            guard let bytes = Hexadecimal.decodeGroups(text.utf8), bytes.count == 16 || bytes.count == 6 else {
                throw UsageFault("--device-id is a UUID, or the 6 bytes of a Mac's address, in hexadecimal")
            }
            expecting.deviceID = bytes
        }
    }
}
