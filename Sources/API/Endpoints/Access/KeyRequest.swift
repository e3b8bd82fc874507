import PurchaseModel

/// The body of `POST /v1/keys`.
struct KeyRequest {
    let name: String
    let kind: KeyKind
    let scopes: Set<Scope>
    let environments: [String]?
    let days: Int64?

    private static let members: Set<String> = ["name", "kind", "scopes", "environments", "expires_in_days"]
    private static let daysMax: Int64 = 3_650
    /// What a secret key may do that nobody said more of: all but making others.
    private static let standard = KeyKind.secret.scopes.subtracting([.keys])

    /// - Parameters:
    ///   - bytes: the body.
    ///   - giver: the key that makes it: it gives no more than it has.
    /// - Throws: what is wrong with it.
    init(_ bytes: [UInt8], by giver: APIKey) throws(RequestBody.Fault) {
        let body = try RequestBody(bytes, members: Self.members)
        name = try Self.name(try RequestBody.needed(body.text("name"), "name"))
        guard let kind = KeyKind(rawValue: try RequestBody.needed(body.text("kind"), "kind")) else {
            throw RequestBody.Fault(field: "kind", detail: "publishable or secret is needed.")
        }
        self.kind = kind
        scopes = try Self.scopes(body, kind, giver)
        environments = try Self.environments(body, giver)
        days = try body.whole("expires_in_days", 1...Self.daysMax)
    }

    /// It stands in log lines and listings.
    private static func name(_ text: String) throws(RequestBody.Fault) -> String {
        guard (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") })
        else {
            throw RequestBody.Fault(
                field: "name",
                detail: "1 to 64 printable ASCII characters, without spaces and commas."
            )
        }
        return text
    }

    private static func scopes(
        _ body: RequestBody,
        _ kind: KeyKind,
        _ giver: APIKey
    ) throws(RequestBody.Fault) -> Set<Scope> {
        guard let words = try body.words("scopes") else {
            return kind.scopes.intersection(standard).intersection(giver.scopes)
        }
        let scopes = Set(words.compactMap(Scope.init(rawValue:)))
        guard !words.isEmpty, scopes.count == words.count, scopes.isSubset(of: kind.scopes) else {
            let known = kind.scopes.map(\.rawValue).sorted().joined(separator: ", ")
            throw RequestBody.Fault(field: "scopes", detail: "Some of \(known), each once.")
        }
        guard scopes.isSubset(of: giver.scopes) else {
            throw RequestBody.Fault(field: "scopes", detail: "No key gives more than it has.")
        }
        return scopes
    }

    private static func environments(
        _ body: RequestBody,
        _ giver: APIKey
    ) throws(RequestBody.Fault) -> [String]? {
        guard let words = try body.words("environments") else {
            return giver.environments.map { $0.map(\.rawValue).sorted() }
        }
        let environments = Set(words.map(StoreEnvironment.init(rawValue:)))
        guard !words.isEmpty, environments.count == words.count, environments.isSubset(of: Set(StoreEnvironment.known))
        else {
            throw RequestBody.Fault(
                field: "environments",
                detail: "Some of production, sandbox, xcode, local_testing, each once."
            )
        }
        guard giver.environments.map(environments.isSubset(of:)) ?? true else {
            throw RequestBody.Fault(field: "environments", detail: "No key gives more than it has.")
        }
        return words.sorted()
    }
}
