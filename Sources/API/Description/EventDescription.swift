import Encoding

/// One type of event, as a webhook brings it: the envelope is the same for all of them.
enum EventDescription {
    /// - Parameters:
    ///   - type: of the event.
    ///   - event: its sentence, and what it holds.
    ///   - isOfFeed: whether it says of itself what every event of the feed does.
    ///   - json: where to.
    static func write(
        _ type: String,
        _ event: JSONValue,
        isOfFeed: Bool = true,
        into json: inout JSONObjectWriter
    ) {
        let summary = event.object?["summary"]
        json.object("post") { json in
            let words = type.utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: "_") : $0 }
            json.member("operationId", "on_" + String(decoding: words, as: UTF8.self))
            json.array("tags") { $0.element("Events") }
            json.member("summary", summary)
            // No key: the signature is in the fields.
            json.array("security") { _ in }
            json.array("parameters") { json in
                for name in ["WebhookID", "WebhookTimestamp", "WebhookSignature"] {
                    json.object { $0.member("$ref", "#/components/parameters/\(name)") }
                }
            }
            json.object("requestBody") { json in
                json.member("required", true)
                json.object("content") { json in
                    json.object("application/json") { json in
                        let data = event.object?["data"]
                        json.object("schema") { writeMessage(type, summary, data, isOfFeed, into: &$0) }
                    }
                }
            }
            json.object("responses") { json in
                json.object("2XX") { $0.member("description", "It has arrived.") }
                json.object("410") { $0.member("description", "The endpoint is to be sent nothing any more.") }
                json.object("default") { $0.member("description", "It is sent again later.") }
            }
        }
    }

    private static func writeMessage(
        _ type: String,
        _ summary: JSONValue?,
        _ data: JSONValue?,
        _ isOfFeed: Bool,
        into json: inout JSONObjectWriter
    ) {
        json.member("type", "object")
        json.member("description", summary)
        json.object("properties") { json in
            json.object("type") { $0.member("const", type) }
            json.object("timestamp") { json in
                json.member("type", "string")
                json.member("format", "date-time")
                json.member("description", "When it happened.")
            }
            if !isOfFeed { return json.member("data", data) }
            json.object("data") { json in
                json.array("allOf") { json in
                    json.object { $0.member("$ref", "#/components/schemas/Common") }
                    json.element(data)
                }
            }
        }
        json.array("required") { json in for name in ["type", "timestamp", "data"] { json.element(name) } }
    }
}
