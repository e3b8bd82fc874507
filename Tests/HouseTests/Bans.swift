/// Words that our code does without, save in the places that are there for them.
struct Ban: Sendable {
    var words: [String] = []
    /// That no file imports, nor anything out of them.
    var modules: [String] = []
    var within = ["Sources/"]
    var except: [String] = []
    let instead: String

    func findings(in file: TextFile, _ code: SwiftCode) -> [Finding] {
        guard file.lies(in: within), !file.lies(in: except) else { return [] }
        let imported = modules.isEmpty ? [] : code.imports().filter { modules.contains($0.module) }
        return words.flatMap { word in
            code.lines(with: word).map { Finding(file.path, line: $0, "\(word) stands here", instead: instead) }
        } + imported.map { Finding(file.path, line: $0.line, "\($0.module) is imported here", instead: instead) }
    }
}

extension Ban {
    /// The targets that read bytes from outside.
    private static let parsers = [
        "Sources/Encoding/", "Sources/AppleFormats/", "Sources/Crypto/", "Sources/HTTP/", "Sources/Verification/",
        "Sources/Storage/",
    ]
    /// Where C libraries are called, and the system's files opened.
    private static let unsafePlaces = [
        "Sources/Crypto/", "Sources/HTTP/Listening/", "Sources/HTTP/Calling/",
        "Sources/Storage/SQL/Connections/", "Sources/Server/Files/", "Sources/PurchaseClient/Journal/",
    ]
    /// In an app nobody else can hand the device's clock on.
    private static let device = "Sources/PurchaseClient/Live/"

    static let all = [
        Ban(
            words: ["unsafe", "@safe", "Unsafe*", "withUnsafe*", "OpaquePointer", "Unmanaged", "unsafeBitCast"],
            except: unsafePlaces,
            instead:
                "Use Span or arrays; C belongs where `unsafePlaces` says that it is called."
        ),
        Ban(
            words: ["@unchecked Sendable", "nonisolated(unsafe)"],
            // The owner of every C object that many threads read; the file says why that holds.
            except: ["Sources/Crypto/SharedHandle.swift"],
            instead: "Make it a value, or put its state behind a Mutex; a C handle has one owner that is not copied."
        ),
        Ban(
            words: ["Date()", "Date.now", "ContinuousClock", "SuspendingClock", "clock_gettime", "gettimeofday"],
            except: ["Sources/Server/", device],
            instead: "Take a WallClock, or the moment itself, through init; only Server reads the machine's clock."
        ),
        Ban(
            words: ["Task.sleep", "Thread.sleep", "usleep"],
            except: ["Sources/Server/", device],
            instead: "Take what waits as a closure, or let a deadline of the listener or a job's due moment do it."
        ),
        Ban(
            words: ["Task {", "Task(", "Task.detached"],
            except: ["Sources/Server/", "Sources/HTTP/Listening/"],
            instead: "Make it a child of a task group: a task without a parent outlives a shutdown."
        ),
        Ban(
            words: [".random(", ".randomElement(", ".shuffled(", "SystemRandomNumberGenerator"],
            except: ["Sources/Server/", device],
            instead: "Take a seeded generator through init, so that a test can repeat what happened."
        ),
        Ban(
            words: ["print(", "debugPrint(", "dump(", "NSLog("],
            except: ["Sources/Server/"],
            instead: "Hand an event to the reporter: only Server turns events into lines."
        ),
        Ban(
            words: ["ProcessInfo", "getenv", "CommandLine"],
            except: ["Sources/Server/", device],
            instead: "Take the setting through init: only Server reads arguments and the environment."
        ),
        Ban(
            words: ["StoreTransaction", "StoreReader", "EventVerbs", "WebhookVerbs", "IdempotencyVerbs"],
            within: ["Sources/Jobs/"],
            instead: "The queue knows job verbs only: JobVerbs to write, JobReader to read."
        ),
        Ban(
            words: ["ServerAnswer("],
            except: ["Sources/AppStore/", "Sources/Verification/"],
            instead: "What makes an unsigned answer a fact is that Apple was asked: only AppStore asks."
        ),
        Ban(
            words: [".shared"],
            instead: "Pass the thing in through init: a singleton cannot be replaced in a test."
        ),
        Ban(
            // Bytes may be split, at a byte; text is told by its separator.
            words: [
                ".split(separator: \"", ".split(whereSeparator", ".split {", ".components(", "replacingOccurrences",
                "trimmingCharacters", "Character",
            ],
            within: parsers + ["Sources/PurchaseClient/"],
            instead: "Text is bytes: walk utf8 with a cursor. One Character may hold a quote and a combining mark."
        ),
        Ban(
            words: ["import Foundation", "import Foundation*"],
            within: parsers.filter { $0 != "Sources/HTTP/" } + ["Sources/PurchaseModel/", "Sources/Pipeline/"],
            instead: "This target does without Foundation: Encoding has JSON, base64 and dates, Timestamp the time."
        ),
        Ban(
            modules: ["Foundation", "FoundationInternationalization", "FoundationNetworking", "FoundationXML"],
            // An app has all of Foundation anyway.
            except: ["Sources/PurchaseClient/"],
            instead: "FoundationEssentials, if at all: Foundation itself brings locales, regular expressions, networks."
        ),
        Ban(
            words: [
                "Span", "MutableSpan", "RawSpan", "InlineArray", "Mutex", "Atomic", "Duration", "Regex",
                "withDiscardingTaskGroup", "withThrowingDiscardingTaskGroup", "URL(filePath:", "appending(path:",
            ],
            modules: ["Synchronization", "Observation", "FoundationEssentials"],
            within: ["Sources/PurchaseClient/"],
            instead: "iOS 15 has none of it, and this compiler does not say so: take what was there then."
        ),
        Ban(
            words: ["public"],
            except: ["Sources/PurchaseClient/"],
            instead: "`package` is seen by all our targets; `public` is what apps see of PurchaseClient."
        ),
        Ban(
            words: ["attributesOfItem", "attributesOfFileSystem"],
            instead: "FileStatus: in a dictionary of attributes casts to Int fail where all of Foundation is not there."
        ),
    ]
}
