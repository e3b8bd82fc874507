/// Who may import whom: the manifest decides, ARCHITECTURE.md shows it, the sources keep to it.
enum ImportTable {
    /// Imports that must never be declared, each with the reason. `*` stands for every target.
    static let never: [(from: String, to: String, because: String)] = [
        ("*", "Server", "the composition root stands on top of everything"),
        ("PurchaseModel", "*", "the rules stay pure, and go to phones"),
        ("PurchaseClient", "*", "it runs in apps, where neither the server nor its libraries are"),
        ("*", "PurchaseClient", "it is for apps; the server does not send purchases to itself"),
        ("Encoding", "*", "it is the one door for bytes from outside, and serves every floor"),
        ("Simulator", "Verification", "a simulator that shares the verifier cannot test it"),
        ("Simulator", "Storage", "the simulator is Apple's side; it knows nothing of our server"),
        ("Simulator", "Pipeline", "the simulator is Apple's side; it knows nothing of our server"),
        ("Pipeline", "AppleFormats", "Apple's words end in Verification"),
        ("API", "AppleFormats", "Apple's words end in Verification"),
        ("Storage", "Verification", "what is stored was proved before; the store does not ask again"),
        ("Jobs", "Verification", "the queue serves any work"),
        ("Jobs", "Pipeline", "the queue serves any work"),
    ]

    static func forbiddenArrows(in manifest: Manifest) -> [Finding] {
        manifest.targets.filter { !$0.isTest }.flatMap { target in
            target.dependencies.flatMap { dependency in
                never.filter { rule in
                    (rule.from == "*" || rule.from == target.name) && (rule.to == "*" || rule.to == dependency)
                }.map { rule in
                    let instead = "Never: \(rule.because). Move what is needed to a lower floor, or pass it in."
                    return Finding("Package.swift", "\(target.name) imports \(dependency)", instead: instead)
                }
            }
        }
    }

    /// The manifest lists targets by floor: each may only name what stands before it.
    static func upwardArrows(in manifest: Manifest) -> [Finding] {
        var before: Set<String> = []
        return manifest.targets.flatMap { target in
            defer { before.insert(target.name) }
            return target.dependencies.filter { !before.contains($0) }.map {
                let instead = "Arrows run down only: order the targets by floor."
                return Finding(
                    "Package.swift",
                    "\(target.name) imports \($0), which is listed after it",
                    instead: instead
                )
            }
        }
    }

    /// Rows of the table in `text`: the target in the first column, what it imports in the second and third.
    static func rows(of text: String) -> [String: Set<String>] {
        var rows: [String: Set<String>] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { $0.drop { $0 == " " } }
            guard cells.count >= 4, let name = words(cells[0]).first, words(cells[0]).count == 1 else { continue }
            rows[name] = Set(words(cells[1]) + words(cells[2]))
        }
        rows["target"] = nil
        return rows
    }

    private static func words(_ cell: Substring) -> [String] {
        cell.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    static func differences(between manifest: Manifest, and table: [String: Set<String>]) -> [Finding] {
        let rooms = manifest.targets.filter { $0.folder.hasPrefix("Sources/") && !$0.isForeign }
        let instead = "Make the import table of ARCHITECTURE.md and Package.swift say the same."
        let wrong = rooms.filter { table[$0.name] != Set($0.dependencies) }.map { room in
            let said = table[room.name].map { $0.sorted().joined(separator: ", ") } ?? "nothing"
            let is_ = room.dependencies.sorted().joined(separator: ", ")
            return Finding(
                "ARCHITECTURE.md",
                "\(room.name) imports [\(is_)], the table says [\(said)]",
                instead: instead
            )
        }
        let gone = table.keys.sorted().filter { name in !rooms.contains { $0.name == name } }
        return wrong + gone.map { Finding("ARCHITECTURE.md", "there is no target \($0)", instead: instead) }
    }

    /// Declared and not imported, or imported and not declared. The compiler's own check lets pass what a dependency
    /// depends on; this one does not.
    static func loose(
        _ target: Manifest.Target,
        _ sources: [(file: TextFile, code: SwiftCode)],
        in manifest: Manifest
    ) -> [Finding] {
        let imports = sources.flatMap { source in source.code.imports().map { (source.file.path, $0.module, $0.line) } }
        let started = target.isTest ? manifest.targets.filter(\.isExecutable).map(\.name) : []
        let used = Set(imports.map(\.1) + started)
        let unused = target.dependencies.filter { !used.contains($0) }.map {
            Finding("Package.swift", "\(target.name) declares \($0) and never imports it", instead: "Delete it there.")
        }
        let ours = Set(manifest.targets.map(\.name)).subtracting(target.dependencies)
        let undeclared = imports.filter { ours.contains($0.1) }.map {
            Finding($0.0, line: $0.2, "\($0.1) is not declared", instead: "Declare it in Package.swift, if it may be.")
        }
        return unused + undeclared
    }
}
