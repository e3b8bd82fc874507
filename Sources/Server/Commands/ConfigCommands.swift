import Encoding

/// `assay config check` and `assay config print`: the configuration as a server would read it.
enum ConfigCommands {
    /// - Returns: 0, or 2 where JSON tells of the faults.
    /// - Throws: `UsageFault` with all faults at once, one a line, for people.
    static func run(
        _ command: String,
        _ arguments: Arguments,
        _ environment: [String: String]
    ) throws(UsageFault) -> Int32 {
        let isJSON = arguments.isSet("json")
        do throws(ConfigurationFaults) {
            let configuration = try StartCheck.configuration(environment: environment, flags: arguments.flags)
            switch (command, isJSON) {
            case ("config check", false): Console.write("The configuration is good.\n")
            case ("config check", true): Console.write(line(faults: []))
            case (_, false): Console.write(configuration.effective)
            case (_, true): Console.write(line(ConfigurationText(configuration)))
            }
            return 0
        } catch {
            guard isJSON else { throw UsageFault(error) }
            Console.write(line(faults: error.all))
            return UsageFault.exitCode
        }
    }

    private static func line(faults: [ConfigurationFault]) -> [UInt8] {
        line { json in
            json.member("is_good", faults.isEmpty)
            json.array("faults") { json in
                for fault in faults {
                    json.object { json in
                        write(fault.origin, into: &json)
                        json.member("path", fault.path)
                        json.member("message", fault.message)
                    }
                }
            }
        }
    }

    private static func line(_ text: ConfigurationText) -> [UInt8] {
        line { json in
            json.array("settings") { json in
                for line in text.lines {
                    json.object { json in
                        json.member("path", line.path)
                        write(value: line.value, into: &json)
                        write(line.origin, into: &json)
                    }
                }
            }
        }
    }

    /// Most values are JSON as they are shown; a word for what is not set, or is set and not shown, is a string.
    private static func write(value: String, into json: inout JSONObjectWriter) {
        if value == "none" { return json.null("value") }
        if let document = try? JSONDocument(Array(value.utf8)) { return json.member("value", document.root) }
        json.member("value", value)
    }

    private static func write(_ origin: SettingOrigin, into json: inout JSONObjectWriter) {
        switch origin {
        case .standard: json.member("origin", "default")
        case .file(let path):
            json.member("origin", "file")
            json.member("name", path)
        case .environment(let name):
            json.member("origin", "environment")
            json.member("name", name)
        case .flag(let name):
            json.member("origin", "flag")
            json.member("name", "--\(name)")
        }
    }

    private static func line(_ body: (inout JSONObjectWriter) -> Void) -> [UInt8] {
        ReportJSON.showable(JSONWriter.object(body)) + [0x0A]
    }
}
