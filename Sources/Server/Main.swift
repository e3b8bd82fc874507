import API
import FoundationEssentials
import Glibc
import HTTP
import Pipeline
import PurchaseModel
import Verification

/// The program: finds the command that is asked for, and runs it.
@main
struct Main {
    static func main() async {
        HeapSettings.apply()
        StandardStreams.ignorePipes()
        StandardStreams.fill()
        let code = await run(Array(CommandLine.arguments.dropFirst()), ProcessInfo.processInfo.environment)
        // Whatever the answer was: nobody has it.
        guard code != UsageFault.exitCode, Console.hasLostOutput else { end(code) }
        Console.error("assay: standard output cannot be written")
        end(UsageFault.exitCode)
    }

    /// Without the handlers and destructors of `exit`: threads that come to their end may still use what those tear down.
    private static func end(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }

    private static func run(_ words: [String], _ environment: [String: String]) async -> Int32 {
        if let first = words.first, ["--help", "-h", "help"].contains(first) {
            Console.write(CommandLineTable.all.helpText)
            return 0
        }
        if words == ["--version"] || words == ["version"] {
            Console.write("assay \(Version.text)\n")
            return 0
        }
        if let help = CommandLineTable.all.groupHelp(words) {
            Console.write(help)
            return 0
        }
        do {
            let (command, rest) = try CommandLineTable.all.find(words)
            let arguments = try Arguments(rest, for: command)
            if arguments.wantsHelp {
                Console.write(command.helpText(program: CommandLineTable.all.program))
                return 0
            }
            return try await run(command.name, arguments, environment)
        } catch let fault as UsageFault {
            for line in fault.description.utf8.split(separator: 0x0A) {
                Console.error("assay: \(ReportText.printable(String(decoding: line, as: UTF8.self)))")
            }
            return UsageFault.exitCode
        } catch {
            // What a server or a store cannot begin without.
            Console.error("assay: \(ReportText.printable("\(error)"))")
            return UsageFault.exitCode
        }
    }

    private static func run(
        _ command: String,
        _ arguments: Arguments,
        _ environment: [String: String]
    ) async throws -> Int32 {
        if let question = Questions.all.first(where: { $0.name == command }) {
            return try await Ask(question, arguments, environment).run()
        }
        switch command {
        case "verify": return Verify(options: try Verify.Options(arguments)).run()
        case "ledger refusals", "ledger evidence", "ledger certificates":
            return try await Ledger.run(command, arguments, environment)
        case "completion", "man": return try ManualCommands.run(command, arguments, CommandLineTable.all)
        case "doctor": return await (try Doctor(arguments, environment)).run()
        case "migrate": return await (try Migrate(arguments, environment)).run()
        case "check": return await (try CheckLedger(arguments, environment)).run()
        case "rebuild":
            let configuration = try read(environment, arguments.flags)
            return await Rebuild(configuration, arguments, at: SystemClock().now).run()
        case "export": return await (try ExportCommand(arguments, environment)).run()
        case "import":
            let configuration = try read(environment, arguments.flags)
            return await (try ImportCommand(configuration, arguments)).run()
        case "reconcile":
            let configuration = try read(environment, arguments.flags)
            return await (try Reconcile(configuration, arguments, at: SystemClock().now)).run()
        case "backup": return await (try Backup(arguments, environment)).run()
        case "restore": return await (try Restore(arguments)).run()
        case "webhook sign", "webhook verify": return try WebhookTool(now: SystemClock().now).run(command, arguments)
        case "webhook listen": return await (try WebhookListen(arguments, environment)).run()
        case let name where name.hasPrefix("apple "): return try await AppleCall.run(name, arguments, environment)
        case "demo": return try await demo(arguments)
        case "simulate": return try await simulate(arguments)
        case let name where name.hasPrefix("simulate "): return try await SimulateCall.run(name, arguments)
        case "config check", "config print": return try ConfigCommands.run(command, arguments, environment)
        default:
            let configuration = try read(environment, arguments.flags)
            let contradictions = StartCheck.contradictions(configuration)
            guard contradictions.isEmpty else { throw UsageFault(ConfigurationFaults(all: contradictions)) }
            return await Serve(settings: ServeSettings(configuration)).run()
        }
    }

    private static func demo(_ arguments: Arguments) async throws -> Int32 {
        let demo = try Demo(arguments, program: CommandLine.arguments.first ?? "")
        let now = SystemClock().now
        try demo.prepare(at: now)
        var flags = ["config": demo.configurationPath]
        flags["listen"] = arguments.value("listen")
        // What stands in the environment is for a real server, not for the demo.
        return try await demo.run(ServeSettings(try read([:], flags)), at: now)
    }

    private static func simulate(_ arguments: Arguments) async throws -> Int32 {
        let options = try Simulate.Options(arguments)
        return try await Simulate(options: options).run { port, key in
            Console.greet(Simulate.greeting(options.address, port, key, folder: options.folder))
        }
    }

    /// A configuration that cannot be used is a usage error: all of its faults at once, one a line.
    private static func read(
        _ environment: [String: String],
        _ flags: [String: String]
    ) throws(UsageFault) -> Configuration {
        do throws(ConfigurationFaults) {
            return try ProductionProfile.configuration(environment: environment, flags: flags)
        } catch {
            throw UsageFault(error)
        }
    }
}
