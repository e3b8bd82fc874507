import FoundationEssentials

/// The folder of recorded Apple data that some tests read. It is not part of the project and may be absent.
///
/// Found through the environment's `ASSAY_CORPUS`, else at `../shared/corpus` beside the package. A suite that needs it
/// says `.enabled(if: Corpus.isPresent, Corpus.absenceNote)`.
package enum Corpus {
    package static let absenceNote = "no corpus: set ASSAY_CORPUS to its folder"

    /// Without a slash at its end.
    package static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["ASSAY_CORPUS"], !named.isEmpty { return named }
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let beside = package.deletingLastPathComponent().appendingPathComponent("shared/corpus").path
        if FileManager.default.fileExists(atPath: beside) { return beside }
        // A linked work tree lies one folder deeper than the package itself.
        return package.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("shared/corpus").path
    }()

    package static var isPresent: Bool {
        FileManager.default.fileExists(atPath: folder + "/manifest.json")
    }

    /// One of its files, by the path that the manifest gives.
    package static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/" + path)))
    }

    /// The names of the files in one of its folders, sorted.
    package static func files(in subfolder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder + "/" + subfolder).sorted()
    }

    /// The manifest's rows; empty when the corpus is absent, so that it may stand in a test's `arguments:`.
    package static let cases: [CorpusCase] = {
        guard isPresent, let text = try? bytes("manifest.json") else { return [] }
        do {
            return try JSONDecoder().decode([CorpusCase].self, from: Data(text))
        } catch {
            preconditionFailure("the corpus's manifest cannot be read: \(error)")
        }
    }()

    package static func cases(ofKind kind: String) -> [CorpusCase] {
        cases.filter { $0.kind == kind }
    }
}
