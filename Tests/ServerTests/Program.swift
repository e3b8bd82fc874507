import Foundation
import TestSupport
import Testing

/// `assay` as a process, as whoever installed it runs it.
enum Program {
    /// Beside the tests, where the build puts both.
    static let path = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/assay"

    static let isBuilt = FileManager.default.isExecutableFile(atPath: path)

    static let absence: Comment = "the product assay is not beside the tests: nothing is run as a process"

    /// What a run that ended by itself left behind.
    struct Run {
        let code: Int32
        let output: [UInt8]
        let errors: [UInt8]

        var text: String { String(decoding: output, as: UTF8.self) }
        var errorText: String { String(decoding: errors, as: UTF8.self) }
        var errorLines: [Substring] { errorText.split(separator: "\n") }
    }

    /// Runs it to its end; one that does not end in time is killed.
    ///
    /// - Parameters:
    ///   - arguments: the words after its name.
    ///   - input: what it reads.
    ///   - output: where to write instead of a file of our own.
    ///   - other: the program to run instead of `assay`.
    ///   - place: where it works.
    ///   - seconds: how long it may take.
    /// - Returns: what it said, and how it ended.
    /// - Throws: ``ChildProcess/NotStarted``.
    static func run(
        _ arguments: [String],
        input: [UInt8] = [],
        output: String? = nil,
        instead other: String? = nil,
        in place: String? = nil,
        within seconds: Double = 240
    ) async throws -> Run {
        try await TemporaryFolder.with { folder in
            let out = output ?? folder + "/out"
            try Data(input).write(to: URL(filePath: folder + "/in"))
            for path in [out, folder + "/errors"] where !FileManager.default.fileExists(atPath: path) {
                try Data().write(to: URL(filePath: path))
            }
            var process = ChildProcess([other ?? path] + arguments)
            process.environment = other == nil ? [:] : ["PATH": "/usr/bin:/bin"]
            process.folder = place
            process.input = .file(folder + "/in")
            process.output = .file(out)
            process.errors = .file(folder + "/errors")
            let exit = ProcessExit()
            let running = try process.start()
            running.whenEnded { exit.note($0) }
            let id = running.id
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { if !exit.isNoted { kill(id, SIGKILL) } }
            let code = await exit.code()
            return Run(
                code: code,
                output: output == nil ? Array(try Data(contentsOf: URL(filePath: out))) : [],
                errors: Array(try Data(contentsOf: URL(filePath: folder + "/errors")))
            )
        }
    }
}

/// A folder that is gone after the test.
enum TemporaryFolder {
    static func with<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-server-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await body(folder)
    }
}
