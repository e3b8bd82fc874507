import Foundation

/// What is written about the code, and in it, must be true and speak of the project only.
enum Documents {
    /// The most lines that a document may have: those that are read as a whole.
    static let linesMax: [(path: String, lines: Int)] = [
        ("ARCHITECTURE.md", 200), ("CONTRIBUTING.md", 80), ("README.md", 120), ("docs/decisions/", 60),
    ]

    static func tooLong(_ file: TextFile) -> [Finding] {
        linesMax.filter { file.lies(in: [$0.path]) && file.lines.count - 1 > $0.lines }.map {
            let what = "\(file.lines.count - 1) lines, where \($0.lines) are the most"
            return Finding(file.path, what, instead: "Cut it: it is read as a whole, or not at all.")
        }
    }

    /// Relative links, and names of decisions, that lead nowhere.
    static func brokenLinks(in file: TextFile, paths: Set<String>, headings: (String) -> Set<String>) -> [Finding] {
        var findings: [Finding] = []
        let instead = "Mend the link, or the name of what it means."
        for (index, line) in file.lines.enumerated() {
            for match in line.matches(of: /\]\(([^)\s]+)\)/) where file.isMarkdown {
                let parts = match.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                guard let target = parts.first, !target.contains(":") else { continue }
                let path = target.isEmpty ? file.path : resolve(target, from: file.folder)
                let exists = paths.contains(path) || paths.contains { $0.hasPrefix(path + "/") }
                let anchorExists = parts.count < 2 || headings(path).contains(String(parts[1]))
                if exists, anchorExists { continue }
                findings.append(Finding(file.path, line: index + 1, "no \(match.1) here", instead: instead))
            }
            for match in line.matches(of: /docs\/decisions\/[0-9]{4}[a-z0-9-]*/)
            where findings.last?.line != index + 1 {
                let exists = paths.contains { $0.hasPrefix(match.0) }
                if !exists { findings.append(Finding(file.path, line: index + 1, "no \(match.0)", instead: instead)) }
            }
        }
        return findings
    }

    private static func resolve(_ link: Substring, from folder: String) -> String {
        var parts = folder.split(separator: "/")
        for step in link.split(separator: "/") where step != "." {
            if step == ".." { _ = parts.popLast() } else { parts.append(step) }
        }
        return parts.joined(separator: "/")
    }

    /// The anchors of a Markdown file's headings, as web hosts make them.
    static func anchors(of file: TextFile) -> Set<String> {
        let headings = file.lines.filter { $0.hasPrefix("#") }.map { $0.drop { $0 == "#" || $0 == " " } }
        return Set(
            headings.map { heading in
                let kept = heading.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                return kept.replacing(" ", with: "-")
            }
        )
    }

    /// `make` verbs that a document names and the Makefile does not have.
    static func unknownVerbs(in file: TextFile, makefile: String) -> [Finding] {
        let known = Set(makefile.matches(of: /(?m)^([a-z]+):/).map { $0.1 })
        return file.lines.enumerated().flatMap { index, line in
            line.matches(of: /(?:^|`|\$ |&& )make ([a-z]+)/).filter { !known.contains($0.1) }.map {
                let instead = "`make` prints the verbs there are."
                return Finding(file.path, line: index + 1, "there is no `make \($0.1)`", instead: instead)
            }
        }
    }

    /// What tests there are: `ATests`, and `ATests.worksWell` for each function of its file.
    static func tests(in sources: [(file: TextFile, code: SwiftCode)]) -> Set<String> {
        sources.reduce(into: []) { tests, source in
            let tokens = source.code.tokens
            let names = zip(tokens, tokens.dropFirst()).map { (word: $0.text, name: $1.text) }
            for suite in names where suite.word == "struct" || suite.word == "extension" {
                tests.insert(suite.name)
                for test in names where test.word == "func" { tests.insert(suite.name + "." + test.name) }
            }
        }
    }

    /// Tests that a document names, as `ATests` or `ATests.worksWell`, and nobody wrote.
    static func unknownTests(in file: TextFile, tests: Set<String>) -> [Finding] {
        file.lines.enumerated().flatMap { index, line in
            line.matches(of: /`(\w+Tests(?:\.\w+)?)`/).filter { !tests.contains(String($0.1)) }.map {
                let instead = "Name a test that shows what is said, or write it."
                return Finding(file.path, line: index + 1, "there is no test \($0.1)", instead: instead)
            }
        }
    }

    /// Rows of the tables that end in "shown by" which name no test.
    static func attacksWithoutATest(in file: TextFile) -> [Finding] {
        var isShown = false
        return file.lines.enumerated().compactMap { index, line in
            guard line.hasPrefix("|") else {
                isShown = false
                return nil
            }
            if line.hasSuffix("| shown by |") { isShown = true }
            guard isShown, !line.hasSuffix("| shown by |"), !line.hasPrefix("|--") else { return nil }
            if line.split(separator: "|").last?.contains(/`\w+Tests/) == true { return nil }
            let instead = "Name the test in the last column; where there is none, write it."
            return Finding(file.path, line: index + 1, "no test shows this", instead: instead)
        }
    }

    /// Raw values of the enums in `file` that `document` does not name, and those in a table there that are gone.
    static func unexplainedWords(of file: TextFile, in document: TextFile) -> [Finding] {
        let words = file.lines.compactMap { line -> String? in
            guard let match = line.wholeMatch(of: /\s+case (\w+)(?: = "(\w+)")?/) else { return nil }
            return String(match.2 ?? match.1)
        }
        let explained = document.lines.flatMap { $0.matches(of: /`(\w+)`/).map { String($0.1) } }
        let rows = document.lines.compactMap { $0.prefixMatch(of: /\| `(\w+)` \|/).map { String($0.1) } }
        let missing = Set(words).subtracting(explained).sorted().map {
            Finding(document.path, "\($0) is not explained", instead: "Say what it means, in a line of the table.")
        }
        let gone = Set(rows).subtracting(words + ["genuine", "not_yours", "test_signed"])
            .subtracting(["forged", "malformed", "undecidable"]).sorted().map {
                Finding(document.path, "there is no \($0)", instead: "Delete its line.")
            }
        return missing + gone
    }

    /// Files among `paths` that lie in a `Samples` folder of the tests and have no line in its README.md.
    static func unexplainedSamples(_ paths: [String], read: (String) -> String) -> [Finding] {
        paths.compactMap { path in
            guard path.hasPrefix("Tests/"), let range = path.firstRange(of: "/Samples/") else { return nil }
            let (folder, name) = (path[..<range.upperBound], path[range.upperBound...])
            guard name != "README.md", !read(folder + "README.md").contains(name) else { return nil }
            let instead = "Write there: what it is, from where, when, and what was changed in it."
            return Finding(path, "no line in \(folder)README.md", instead: instead)
        }
    }

    /// Paths of somebody's machine, and talk about how the work was done instead of what it is.
    static func strangers(in file: TextFile) -> [Finding] {
        let paths = /(?:^|[\s"'`(=])\/(?:home|root|Users|work|mnt|media|private)\/[\w.]/
        let talk =
            /(?i)\b(?:this|last|next|previous) session\b|\b(?:closes|fixes|resolves) #\d|\bissue #?\d|\bsee ticket/
        let later = /\b(?:TODO|FIXME|XXX|HACK)\b/
        return file.lines.enumerated().flatMap { index, line -> [Finding] in
            var findings: [Finding] = []
            func find(_ what: String, _ instead: String) {
                findings.append(Finding(file.path, line: index + 1, what, instead: instead))
            }
            if line.contains(paths) { find("a path of one machine", "Say it relative to the repository.") }
            if line.contains(talk) { find("talk about how the work went", "Say what the code does and why.") }
            if line.contains(later) { find("a note to do it later", "Do it, or say what is not done and why.") }
            return findings
        }
    }
}
