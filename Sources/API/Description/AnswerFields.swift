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

    /// What scripts of any origin may read says so.
    private static let toAnyOrigin: [Field] = [
        ("Access-Control-Allow-Origin", "AllowOrigin"), ("Access-Control-Expose-Headers", "ExposeHeaders"),
    ]

    /// Which of them the answers of an operation have.
    struct Kind {
        /// Whether what a key may still ask is told.
        let isToKey: Bool
        let isToAnyOrigin: Bool

        /// Of what many operations answer alike.
        static let ofMany = Kind(isToKey: true, isToAnyOrigin: false)

        private init(isToKey: Bool, isToAnyOrigin: Bool) {
            self.isToKey = isToKey
            self.isToAnyOrigin = isToAnyOrigin
        }

        /// A key is told where one is needed, and where one in the path or the body is limited, too.
        init(of operation: JSONObject) {
            let isLimited = operation["x-codes"]?.array?.contains { $0.says("rate_limited") }
            isToKey = operation["security"]?.array?.isEmpty == false || isLimited == true
            isToAnyOrigin = operation["x-any-origin"]?.bool == true
        }
    }

    /// - Parameters:
    ///   - kind: what the answers of the operation have.
    ///   - own: those that a part names; `nil` for none.
    ///   - more: of the status.
    ///   - json: the answer, which gets its `headers`.
    static func write(
        _ kind: Kind,
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
            let ofKind = (kind.isToKey ? toKey : []) + (kind.isToAnyOrigin ? toAnyOrigin : [])
            for field in more + everywhere + ofKind where named.insert(field.name).inserted {
                json.object(field.name) { $0.member("$ref", "#/components/headers/\(field.component)") }
            }
        }
    }
}
