/// What shells are told of the commands and their flags, made from the one table that the program itself reads.
struct Completion {
    enum Shell: String, CaseIterable {
        case bash, zsh, fish
    }

    let table: CommandTable

    func script(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// A first word, with what may follow it.
    private struct Group {
        let word: String
        /// Of the command that is this word alone; nil when another word must follow.
        var alone: CommandShape?
        var others: [(word: String, shape: CommandShape)] = []

        var summary: String { alone?.summary ?? others.map(\.word).joined(separator: ", ") }
    }

    private var groups: [Group] {
        var groups: [Group] = []
        for shape in table.commands {
            let words = shape.words
            guard let first = words.first else { continue }
            let index = groups.firstIndex { $0.word == first } ?? groups.endIndex
            if index == groups.endIndex { groups.append(Group(word: first)) }
            if words.count > 1 { groups[index].others.append((words[1], shape)) } else { groups[index].alone = shape }
        }
        return groups
    }

    private static func flags(_ shape: CommandShape) -> [CommandShape.Option] { shape.options + [CommandShape.help] }

    private static func flagWords(_ shape: CommandShape) -> String {
        flags(shape).map { "--" + $0.name }.joined(separator: " ")
    }

    // MARK: bash

    private var bash: String {
        let groups = groups
        let seconds = groups.filter { !$0.others.isEmpty }.map { group in
            "        \(group.word)) words=\"\(group.others.map(\.word).joined(separator: " "))\" ;;"
        }
        let flags = table.commands.map { "        \"\($0.name)\") flags=\"\(Self.flagWords($0))\" ;;" }
        return """
            # bash completion for \(table.program)
            _\(table.program)() {
                local current=${COMP_WORDS[COMP_CWORD]} first=${COMP_WORDS[1]-} second=${COMP_WORDS[2]-}
                local words= flags= name
                COMPREPLY=()
                if ((COMP_CWORD == 1)); then
                    words="\(groups.map(\.word).joined(separator: " ")) --help --version"
                elif ((COMP_CWORD == 2)); then
                    case $first in
            \(seconds.joined(separator: "\n"))
                    esac
                fi
                if [[ $current == -* && COMP_CWORD -gt 1 ]]; then
                    for name in "$first $second" "$first"; do
                        case $name in
            \(flags.joined(separator: "\n"))
                        esac
                        if [[ -n $flags ]]; then break; fi
                    done
                fi
                local IFS=$' \\t\\n'
                while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words $flags" -- "$current")
            }
            complete -o default -F _\(table.program) \(table.program)

            """
    }

    // MARK: zsh

    private var zsh: String {
        let firsts = groups.map { "        \(Self.described($0.word, $0.summary))" }
        let seconds = groups.filter { !$0.others.isEmpty }.map { group in
            let words = group.others.map { "            \(Self.described($0.word, $0.shape.summary))" }
            return "        \(group.word)) words=(\n\(words.joined(separator: "\n"))\n        ) ;;"
        }
        let flags = table.commands.map { shape in
            let words = Self.flags(shape).map { "            \(Self.described("--" + $0.name, $0.summary))" }
            return "        '\(shape.name)') flags=(\n\(words.joined(separator: "\n"))\n        ) ;;"
        }
        return """
            #compdef \(table.program)
            _\(table.program)() {
                local -a words_first flags
                local name typed="${words[2]} ${words[3]}" first="${words[2]}" current="${words[CURRENT]}" place=$CURRENT
                local -a words
                if (( place == 2 )); then
                    words=(
            \(firsts.joined(separator: "\n"))
                    )
                elif (( place == 3 )); then
                    case $first in
            \(seconds.joined(separator: "\n"))
                    esac
                fi
                for name in "$typed" "$first"; do
                    case $name in
            \(flags.joined(separator: "\n"))
                    esac
                    (( ${#flags} )) && break
                done
                if [[ $current == -* ]]; then _describe flag flags; else _describe command words || _files; fi
            }
            _\(table.program) "$@"

            """
    }

    private static func described(_ word: String, _ summary: String) -> String {
        quoted(word.replacing(":", with: "\\:") + ":" + summary)
    }

    // MARK: fish

    private var fish: String {
        var lines = ["# fish completion for \(table.program)"]
        let program = "complete -c \(table.program)"
        for group in groups {
            lines.append("\(program) -f -n __fish_use_subcommand -a \(group.word) -d \(Self.quoted(group.summary))")
            let others = group.others.map(\.word).joined(separator: " ")
            if let alone = group.alone {
                let rest = others.isEmpty ? "" : "; and not __fish_seen_subcommand_from \(others)"
                lines += Self.fish(program, alone, when: "__fish_seen_subcommand_from \(group.word)\(rest)")
            }
            for (word, shape) in group.others {
                let seen = "__fish_seen_subcommand_from \(group.word)"
                let open = Self.quoted("\(seen); and not __fish_seen_subcommand_from \(others)")
                lines.append("\(program) -f -n \(open) -a \(word) -d \(Self.quoted(shape.summary))")
                lines += Self.fish(program, shape, when: "\(seen); and __fish_seen_subcommand_from \(word)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func fish(_ program: String, _ shape: CommandShape, when condition: String) -> [String] {
        flags(shape).map { option in
            let value = option.value == nil ? "" : " -r"
            return "\(program) -n \(quoted(condition)) -l \(option.name)\(value) -d \(quoted(option.summary))"
        }
    }

    /// In single quotes, for all three shells.
    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
