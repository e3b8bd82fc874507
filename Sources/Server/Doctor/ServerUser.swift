import FoundationEssentials
import Glibc

/// Who the server of a data folder runs as: what is amiss with a file is a matter of whether that user may open it, whoever
/// looks.
struct ServerUser: Equatable, Sendable {
    /// The system's number; 0 is root, who may open everything.
    let id: UInt32
    /// By what it is known.
    let known: String

    /// What the machine tells of users, processes and services.
    struct Machine: Sendable {
        /// `/proc/locks`.
        var locks = ""
        /// `/proc/PID/status` and `/proc/PID/cmdline` of a process.
        var process: @Sendable (Int) -> (status: String, words: [String])? = { _ in nil }
        /// The unit of the service `assay`, and after it what overrides parts of it.
        var unit: [String] = []
        /// `/etc/passwd`.
        var users = ""
        /// Who asks.
        var caller: UInt32

        /// This machine, as far as it can be looked at from here.
        static var this: Machine {
            Machine(
                locks: text("/proc/locks"),
                process: { number in
                    let words = text("/proc/\(number)/cmdline").utf8.split(separator: 0)
                    return (text("/proc/\(number)/status"), words.map { String(decoding: $0, as: UTF8.self) })
                },
                unit: unitFiles().map(text),
                users: text("/etc/passwd"),
                caller: geteuid()
            )
        }

        private static func text(_ path: String) -> String {
            (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        }

        /// Where systemd looks, the first one counts; and what is beside it.
        private static func unitFiles() -> [String] {
            let folders = ["/etc", "/run", "/usr/lib", "/lib"].map { $0 + "/systemd/system/assay.service" }
            let unit = folders.first { FileStatus($0)?.isRegular == true }
            let beside = folders.reversed().flatMap { folder in
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder + ".d")) ?? []
                return names.filter { $0.hasSuffix(".conf") }.sorted().map { folder + ".d/" + $0 }
            }
            return unit.map { [$0] + beside } ?? []
        }
    }

    /// The user of the server that holds the folder's lock; else that of the service, if it is the one of this configuration;
    /// else who asks. Root, who may be anybody's operator, says nothing by asking: then it is the folder's owner.
    ///
    /// - Parameters:
    ///   - lock: where the folder's lock is; `nil` when there is none.
    ///   - owner: of the folder.
    ///   - configuration: the path of the configuration that is looked at, if any is named.
    ///   - machine: what tells of processes and services.
    /// - Returns: the user, and by what it is known.
    static func find(
        lock: FileStatus.Place?,
        owner: UInt32,
        configuration: String?,
        on machine: Machine
    ) -> ServerUser {
        if let process = lock.flatMap({ LockTable(machine.locks).holder(of: $0) }),
            let found = machine.process(process), ["serve", "demo"].contains(found.words.dropFirst().first),
            let user = effectiveUser(found.status)
        {
            return ServerUser(id: user, known: "by the server that runs, process \(process)")
        }
        if let user = configuration.flatMap({ service(of: $0, machine) }) {
            return ServerUser(id: user, known: "by the unit assay.service")
        }
        if machine.caller != 0 { return ServerUser(id: machine.caller, known: "which is who asks") }
        return ServerUser(id: owner, known: "whose the folder is")
    }

    /// The second number of the line `Uid:`.
    private static func effectiveUser(_ status: String) -> UInt32? {
        let line = status.utf8.split(separator: 0x0A).first { $0.starts(with: "Uid:".utf8) }
        let words = line?.split { $0 == 0x09 || $0 == 0x20 } ?? []
        return words.count > 2 ? UInt32(String(decoding: words[2], as: UTF8.self)) : nil
    }

    private static func service(of configuration: String, _ machine: Machine) -> UInt32? {
        let lines = machine.unit.flatMap { $0.utf8.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) } }
        func last(_ name: String) -> String? {
            lines.last { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
        }
        guard let start = last("ExecStart") else { return nil }
        let words = words(of: start)
        let flagged =
            words.last { $0.hasPrefix("--config=") }.map { String($0.dropFirst("--config=".utf8.count)) }
            ?? words.firstIndex(of: "--config").flatMap { words.dropFirst($0 + 1).first }
        // As the server itself: the flag, or else the environment.
        guard (flagged ?? environment("ASSAY_CONFIG", lines)) == configuration else { return nil }
        // Without one it is root.
        guard let name = last("User"), !name.isEmpty else { return 0 }
        return UInt32(name) ?? number(of: name, machine.users)
    }

    /// What `Environment=` lines set a variable to: of several the last counts, and an empty line takes all before it back.
    private static func environment(_ variable: String, _ lines: [String]) -> String? {
        var value: String?
        for line in lines where line.hasPrefix("Environment=") {
            let words = words(of: String(line.dropFirst("Environment=".utf8.count)))
            if words.isEmpty { value = nil }
            for word in words where word.hasPrefix(variable + "=") {
                value = String(word.dropFirst(variable.utf8.count + 1))
            }
        }
        return value
    }

    /// The words of a line; quotes around one are left out.
    private static func words(of line: String) -> [String] {
        line.utf8.split(separator: 0x20).map { word in
            let isQuote = { (byte: UInt8) in byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
            let bare = word.drop(while: isQuote).reversed().drop(while: isQuote).reversed()
            return String(decoding: Array(bare), as: UTF8.self)
        }
    }

    private static func number(of name: String, _ users: String) -> UInt32? {
        for line in users.utf8.split(separator: 0x0A) {
            let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            if fields.count > 2, fields[0].elementsEqual(name.utf8) {
                return UInt32(String(decoding: fields[2], as: UTF8.self))
            }
        }
        return nil
    }
}
