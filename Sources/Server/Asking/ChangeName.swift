import Crypto
import Encoding

/// The name under which a command asks a server for a change: under it, it is done once, however often it is sent.
struct ChangeName {
    static let option = CommandShape.Option(
        "idempotency-key",
        value: "KEY",
        "The request's name: under it, it is done once. Made up if not given."
    )

    let text: String

    /// As it is given, or else one that nobody else has: whoever sends the same again after a lost answer needs it.
    init(_ arguments: Arguments) {
        text = arguments.value(Self.option.name) ?? Hexadecimal.encode(SecureRandom.bytes(16))
    }

    /// Says why the change was not answered, and how to ask for it again where it may be done all the same.
    ///
    /// - Parameters:
    ///   - fault: what came instead of an answer.
    ///   - command: its name.
    /// - Returns: the exit code.
    func tell(_ fault: APIClient.Fault, of command: String) -> Int32 {
        Console.error("assay \(command): \(ReportText.printable("\(fault)"))")
        guard fault.mayBeDone else { return fault.exitCode }
        let name = ReportText.printable(text)
        Console.error("it may be done all the same: the same command with --idempotency-key \(name) does it once")
        return 2
    }
}
