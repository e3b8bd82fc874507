import Encoding

/// The header fields that answers have whatever is asked: added to those that the parts name.
enum AnswerFields {
    typealias Field = (name: String, component: String)

    /// Every answer of a route is named; who wishes it has it signed.
    private static let everywhere: [Field] = [
        ("X-Request-Id", "RequestID"), ("Assay-Key-ID", "AnswerKeyID"), ("Assay-Signed-At", "AnswerSignedAt"),
        ("Assay-Signature", "AnswerSignature"),
    ]
    /// Answers to a key tell how it stands, where keys have a limit.
    private static let toKey: [Field] = [("RateLimit-Policy", "RateLimitPolicy"), ("RateLimit", "RateLimit")]

    /// - Parameters:
    ///   - isToKey: whether what a key may still ask is told.
    ///   - own: those that a part names; `nil` for none.
    ///   - more: of the status.
    ///   - json: the answer, which gets its `headers`.
    static func write(
        isToKey: Bool,
        beside own: JSONObject?,
        and more: [Field] = [],
        into json: inout JSONObjectWriter
    ) {
        json.object("headers") { json in
            var named: Set<String> = []
            if let own {
                for member in own.members {
                    named.insert(member.key)
                    json.member(member.key, member.value)
                }
            }
            for field in more + everywhere + (isToKey ? toKey : []) where named.insert(field.name).inserted {
                json.object(field.name) { $0.member("$ref", "#/components/headers/\(field.component)") }
            }
        }
    }

    /// Whether answers of an operation tell what the key may still ask: where one is needed, and where one in the path or the
    /// body is limited, too.
    static func areToKey(_ operation: JSONObject) -> Bool {
        let isLimited = operation["x-codes"]?.array?.contains { $0.says("rate_limited") }
        return operation["security"]?.array?.isEmpty == false || isLimited == true
    }
}
