import Encoding
import HTTP

/// Runs the commands that ask a server's API.
struct Ask {
    typealias Fault = APIClient.Fault

    private let question: Question
    private let arguments: Arguments
    private let name: ChangeName
    private let client: APIClient
    private let table: AnswerTable

    /// - Throws: ``UsageFault`` when there is no key.
    init(_ question: Question, _ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        self.question = question
        self.arguments = arguments
        name = ChangeName(arguments)
        client = try ServerAccess.client(arguments, environment)
        table = AnswerTable(paint: Paint(environment), isJSON: arguments.isSet("json"))
    }

    /// - Returns: 0 when it was done, 1 when the server says no or what was asked for is not so, 2 when it could not be asked.
    /// - Throws: ``UsageFault``.
    func run() async throws(UsageFault) -> Int32 {
        let members = try members()
        do throws(Fault) {
            if question.rows == nil { return try await object(members) ? 0 : 1 }
            try await list(members)
            return 0
        } catch {
            guard !question.hasName else { return name.tell(error, of: question.name) }
            Console.error("assay \(question.name): \(ReportText.printable("\(error)"))")
            return error.exitCode
        }
    }

    // MARK: What is sent

    private typealias Member = (field: Question.Field, value: String)
    private typealias Place = (member: String, value: JSONValue)

    /// The flags that are given, checked as far as their kind goes.
    private func members() throws(UsageFault) -> [Member] {
        var members: [Member] = []
        for field in question.fields {
            guard let value = arguments.value(field.option.name) else {
                if field.isNeeded { throw UsageFault("--\(field.option.name) is missing") }
                continue
            }
            if case .whole = field.kind, Int64(value) == nil {
                throw UsageFault("--\(field.option.name) is a whole number")
            }
            if let twin = members.first(where: { $0.field.member == field.member }) {
                throw UsageFault("--\(twin.field.option.name) and --\(field.option.name) contradict each other")
            }
            members.append((field, value))
        }
        let names = question.oneOf
        guard names.isEmpty || members.contains(where: { names.contains($0.field.option.name) }) else {
            let flags = names.map { "--\($0)" }
            throw UsageFault("one of \(flags.dropLast().joined(separator: ", ")) and \(flags.last ?? "") is needed")
        }
        return members
    }

    private var path: String {
        var words = arguments.positionals[...]
        return question.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { part in
            let text = String(decoding: part, as: UTF8.self)
            return text == "{}" ? words.popFirst().map { PercentCoding.encode($0) } ?? "" : text
        }.joined(separator: "/")
    }

    /// Who says nothing sends nothing: some changes are asked for without a word.
    private static func body(_ members: [Member], on place: Place?) -> [UInt8] {
        guard !members.isEmpty || place != nil else { return [] }
        return JSONWriter.object { json in
            // Where it goes on takes the place of where it was to begin.
            for (field, value) in members where field.member != place?.member {
                switch field.kind {
                case .text: json.member(field.member, value)
                case .whole: json.member(field.member, Int64(value))
                case .fixed(let value): json.member(field.member, value)
                case .null: json.null(field.member)
                case .list:
                    json.array(field.member) { json in
                        for word in value.utf8.split(separator: UInt8(ascii: ",")) {
                            json.element(String(decoding: word, as: UTF8.self))
                        }
                    }
                }
            }
            if let place { json.member(place.member, place.value) }
        }
    }

    private func query(_ members: [Member], on place: String?) -> String {
        var query = members.map { member in
            if case .fixed(let value) = member.field.kind { return (name: member.field.member, value: "\(value)") }
            return (name: member.field.member, value: member.value)
        }
        if let name = question.rows?.place {
            if let limit = arguments.value("limit") { query.append(("limit", limit)) }
            if let place { query.append((name, place)) }
        }
        return PercentCoding.query(query)
    }

    // MARK: One object

    /// - Returns: whether what was asked for is so.
    private func object(_ members: [Member]) async throws(Fault) -> Bool {
        guard question.isChange else {
            let answer = try await client.ask(.get, path + query(members, on: nil))
            Console.write(table.object(answer))
            return answer.json.map(question.isSo) ?? true
        }
        var place: Place?
        var (step, isSo) = (0, true)
        repeat {
            let own = step == 0 ? name.text : "\(name.text)-\(step)"
            let key = question.hasName ? own : nil
            let answer = try await client.ask(.post, path, Self.body(members, on: place), idempotency: key)
            Console.write(table.object(answer))
            step += 1
            isSo = isSo && answer.json.map(question.isSo) ?? true
            place = question.goesOn.flatMap { names in
                // Where there is no place, or null, it ends.
                answer.json?[names.next].flatMap {
                    $0.string ?? $0.int64.map(String.init) == nil ? nil : (names.place, $0)
                }
            }
        } while place != nil
        return isSo
    }

    // MARK: Lists

    private func list(_ members: [Member]) async throws(Fault) {
        guard let rows = question.rows else { return }
        var place = arguments.value("after")
        var shown = 0
        repeat {
            let answer = try await client.ask(.get, path + query(members, on: place))
            guard let json = answer.json, let page = json[rows.member]?.array.map(Array.init) else {
                throw .invalid("the answer has no \(rows.member)")
            }
            // Nobody gets the rest either.
            guard Console.write(table.rows(page, rows.columns, isFirst: shown == 0)) else { return }
            shown += page.count
            let next = Self.next(json)
            // The same place again would never end.
            if next == nil || next == place {
                // Only now: a page may be empty, and one behind it not.
                if shown == 0 { Console.write(table.nothing) }
                return
            }
            place = next
        } while arguments.isSet("all")
        if let place { Console.error("more: --after \(ReportText.printable(place))") }
    }

    /// A feed names its end, too, and says whether there is more.
    private static func next(_ json: JSONObject) -> String? {
        guard json["has_more"]?.bool ?? true else { return nil }
        return json["next"]?.string ?? json["next"]?.int64.map(String.init)
    }
}
