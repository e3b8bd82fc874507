import API
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// The event feed as Server-Sent Events.
@Suite struct EventStreamTests {
    /// An event as a client takes it, by the rules of WHATWG HTML § 9.2.6.
    struct Event: Equatable {
        var id = ""
        var type = ""
        var data = ""
    }

    private static func place(_ number: Int, in house: TestHouse) async {
        let order = #"{"order_id": "o-\#(number)", "customer_id": "ann", "product_id": "com.example.demo.coins"}"#
        #expect(await house.change("/v1/orders", order).status == .created)
    }

    /// Asks for chunks until there are as many events.
    private static func events(_ response: HTTPResponse, _ count: Int) async throws -> [Event] {
        let stream = try #require(response.stream)
        var parser = Parser()
        while parser.events.count < count {
            guard let chunk = try await stream.next() else { break }
            parser.take(chunk)
        }
        return parser.events
    }

    @Test func eventsAreThoseOfTheListing() async throws {
        try await TestHouse().open { house in
            for number in 1...3 { await Self.place(number, in: house) }
            let response = await house.follow()
            #expect(response.status == .ok && response.body.isEmpty)
            #expect(response.fields["Content-Type"] == "text/event-stream")
            #expect(response.fields["Cache-Control"] == "no-store")
            #expect(response.fields["X-Accel-Buffering"] == "no")
            let streamed = try await Self.events(response, 3)
            let listing = await house.get("/v1/events")
            let listed = try #require(try listing.json()["events"]?.array)
            #expect(streamed.count == 3)
            for (event, listed) in zip(streamed, listed) {
                let object = try #require(listed.object)
                #expect(Int64(event.id) == object["cursor"]?.int64)
                #expect(event.type == object["event"]?.object?["type"]?.string)
                // Byte for byte.
                #expect(String(decoding: listing.body, as: UTF8.self).contains(#""event":"# + event.data))
            }
        }
    }

    @Test func whatHappensLaterIsToldLater() async throws {
        try await TestHouse().open { house in
            let response = await house.follow()
            let stream = try #require(response.stream)
            #expect(try await stream.next() == Array("retry: 3000\n".utf8))
            async let chunk = stream.next()
            await Self.place(1, in: house)
            var parser = Parser()
            parser.take(try #require(try await chunk))
            #expect(parser.events.map(\.type) == ["order.placed"])
        }
    }

    /// Each row: the query, what the client says it heard of last, and the ids that it is told.
    @Test(
        arguments: [
            (nil, nil, ["1", "2", "3", "4"]), ("after=2", nil, ["3", "4"]), (nil, "3", ["4"]), ("after=1", "3", ["4"]),
            ("after=3", "", ["4"]), ("after=0", "0", ["1", "2", "3", "4"]), ("types=order.cancelled", nil, ["4"]),
            ("types=order.placed&after=1", nil, ["2", "3"]),
            ("environment=production&test_signed=false", "2", ["3", "4"]),
        ] as [(String?, String?, [String])]
    )
    func theClientSaysWhereToGoOn(query: String?, lastID: String?, told: [String]) async throws {
        try await TestHouse().open { house in
            for number in 1...3 { await Self.place(number, in: house) }
            #expect(await house.change("/v1/orders/o-1/cancel").status == .ok)
            let response = await house.follow(query: query, fields: lastID.map { ["Last-Event-ID": $0] } ?? [:])
            let events = try await Self.events(response, told.count)
            #expect(events.map(\.id) == told)
        }
    }

    @Test(
        arguments: [
            (nil, ["Last-Event-ID": "x"]), (nil, ["Last-Event-ID": "-1"]), ("after=x", [:]), ("limit=1", [:]),
            ("unknown=1", [:]), ("types=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", [:]), ("environment=moon", [:]),
        ] as [(String?, [String: String])]
    )
    func whatIsWrongIsSaidBeforeTheStream(query: String?, fields: [String: String]) async throws {
        try await TestHouse().open { house in
            let fields = HTTPFields(fields.map { HTTPFields.Field(name: $0.key, value: $0.value) })
            let response = await house.follow(query: query, fields: fields)
            #expect(response.status == .badRequest && response.stream == nil)
            let problem = try response.json()
            #expect(problem["code"]?.string == "invalid_query")
        }
    }

    /// A store alone has nothing that is test-signed, and what is test-signed is of all stores: in the listing and as it comes.
    @Test func noSideIsTakenThatNobodyNamed() async throws {
        try await TestHouse(terms: OrderTests.terms(needsOrder: false)).open { house in
            await Self.place(1, in: house)
            #expect(await house.submit(try Sample.jws(9_900_001, environment: .production)).status == .ok)
            #expect(await house.submit(try Sample.jws(9_900_002, environment: .sandbox)).status == .ok)
            // No test authority vouches for what is Apple's own.
            let tested = EventRow(
                id: try #require(EventID("evt_0123456789abcdef0123456789abcdef")),
                app: try #require(AppID("demo")),
                realm: Realm(environment: .sandbox, isTestSigned: false),
                customer: nil,
                sequence: 1,
                type: "order.paid",
                happenedAt: TestHouse.now,
                learnedAt: TestHouse.now,
                data: Array("{}".utf8)
            )
            try await house.store.write { transaction throws(StoreFailure) in try transaction.append([tested]) }
            func listed(_ query: String?) async throws -> [String] {
                let events = try #require(try await house.get("/v1/events", query: query).json()["events"]?.array)
                return events.compactMap { $0.object?["cursor"]?.int64.map(String.init) }
            }
            let real = try await listed("environment=production&test_signed=false")
            let live = try await listed("environment=production&test_signed=true")
            let test = try await listed("environment=sandbox&test_signed=true")
            let free = try await listed("environment=sandbox&test_signed=false")
            #expect(![real, live, test, free].contains { $0.isEmpty })
            let rows: [(query: String?, told: [String])] = [
                (nil, real + live + test + free), ("test_signed=true", live + test), ("test_signed=false", real + free),
                ("environment=production", real), ("environment=sandbox", free),
            ]
            for (query, told) in rows {
                try #require(try await listed(query) == told, "\(query ?? "")")
                let streamed = try await Self.events(await house.follow(query: query), told.count)
                #expect(streamed.map(\.id) == told, "\(query ?? "")")
            }
        }
    }

    @Test func twoLastIDsAreNone() async throws {
        try await TestHouse().open { house in
            var fields: HTTPFields = ["Last-Event-ID": "1"]
            fields.append("Last-Event-ID", "2")
            #expect(await house.follow(fields: fields).status == .badRequest)
        }
    }

    @Test func aStreamIsOfTheKeysApp() async throws {
        try await TestHouse().open { house in
            await Self.place(1, in: house)
            #expect(await house.follow(key: "nobody").status == .unauthorized)
            let stream = try #require(await house.follow(key: TestHouse.otherKey).stream)
            _ = try await stream.next()
            #expect(try await Self.next(of: stream, in: house) == Array(":\n".utf8))
        }
    }

    /// The next chunk, while time passes.
    private static func next(of stream: HTTPStream, in house: TestHouse) async throws -> [UInt8]? {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    house.pace.advance(by: .seconds(1))
                    await Task.yield()
                }
            }
            defer { group.cancelAll() }
            return try await stream.next()
        }
    }

    @Test(arguments: [
        ("text/event-stream", true), ("TEXT/Event-Stream;q=0.9", true), ("application/json, text/event-stream", true),
        ("text/event-stream;q=0", false), ("text/event-stream ; Q=0.000, */*", false),
        ("text/event-stream;q=0.001", true),
        ("*/*", false), ("text/*", false), ("application/json", false), ("text/event-streams", false), ("", false),
    ])
    func whoAcceptsItGetsIt(accept: String, isStream: Bool) async throws {
        try await TestHouse().open { house in
            let response = await house.follow(fields: ["Accept": accept])
            #expect(response.status == .ok && (response.stream != nil) == isStream)
        }
    }

    @Test func silenceIsBrokenAndAnHourIsTheEnd() async throws {
        try await TestHouse().open { house in
            let stream = try #require(await house.follow().stream)
            _ = try await stream.next()
            var silences = 0
            while let chunk = try await Self.next(of: stream, in: house) {
                #expect(chunk == Array(":\n".utf8))
                silences += 1
            }
            #expect((1...240).contains(silences))
            #expect(house.pace.uptime >= .seconds(3_600))
        }
    }

    /// In a silence the client is told how far events were passed over that it does not want, once, and goes on from there.
    @Test func whatIsPassedOverIsNotPassedOverAgain() async throws {
        try await TestHouse().open { house in
            for number in 1...3 { await Self.place(number, in: house) }
            let stream = try #require(await house.follow(query: "types=order.cancelled").stream)
            _ = try await stream.next()
            let silence = try #require(try await Self.next(of: stream, in: house))
            #expect(String(decoding: silence, as: UTF8.self) == "id: 3\n\n")
            #expect(try await Self.next(of: stream, in: house) == Array(":\n".utf8))
            #expect(await house.change("/v1/orders/o-1/cancel").status == .ok)
            var parser = Parser()
            parser.take(silence)
            parser.take(try #require(try await Self.next(of: stream, in: house)))
            #expect(parser.events.map(\.id) == ["4"])
            #expect(try await Self.next(of: stream, in: house) == Array(":\n".utf8))
        }
    }

    /// Revoked, rotated without an overlap, or over: nothing more is told, neither events nor that there are none.
    @Test(arguments: ["revoke", "rotate", "expire"], [true, false])
    func aStreamEndsWithItsKey(how: String, hasNews: Bool) async throws {
        try await TestHouse().open { house in
            let days = how == "expire" ? #", "expires_in_days": 1"# : ""
            let wish = #"{"name": "reader", "kind": "secret", "scopes": ["read"]\#(days)}"#
            let made = try await house.change("/v1/keys", wish).json()
            let (id, key) = (try #require(made["key_id"]?.string), try #require(made["secret"]?.string))
            let stream = try #require(await house.follow(key: key).stream)
            _ = try await stream.next()
            await Self.place(1, in: house)
            #expect(try await Self.next(of: stream, in: house).map { $0.count > 10 } == true)
            #expect(try await Self.next(of: stream, in: house) == Array(":\n".utf8))
            switch how {
            case "revoke": #expect(await house.change("/v1/keys/\(id)/revoke").status == .ok)
            case "rotate":
                let rotated = await house.change("/v1/keys/\(id)/rotate", #"{"overlap_seconds": 0}"#)
                #expect(rotated.status == .created)
            default: house.clock.advance(by: .seconds(86_400))
            }
            if hasNews { await Self.place(2, in: house) }
            #expect(try await Self.next(of: stream, in: house) == nil)
        }
    }

    /// Whatever a message holds, it is one line: nobody can write events of his own into somebody's stream.
    @Test func hostileTextStaysInItsEvent() async throws {
        let texts = ["a\n\nid: 99\nevent: forged\ndata: {}\n\n", "\r\rdata: x\r\r", "\u{2028}\u{85}\u{feff}", "\r\n:"]
        let house = try TestHouse()
        let app = try #require(AppID("demo"))
        for (number, text) in texts.enumerated() {
            let id = EventID.prefix + String(repeating: "0", count: 31) + String(number)
            let row = EventRow(
                id: try #require(EventID(id)),
                app: app,
                realm: Realm(environment: .production, isTestSigned: false),
                customer: nil,
                sequence: Int64(number + 1),
                type: "order.paid",
                happenedAt: TestHouse.now,
                learnedAt: TestHouse.now,
                data: JSONWriter.object { $0.member("note", text) }
            )
            try await house.store.write { transaction throws(StoreFailure) in try transaction.append([row]) }
        }
        try await house.open { house in
            let events = try await Self.events(await house.follow(), texts.count)
            #expect(events.map(\.id) == ["1", "2", "3", "4"])
            #expect(events.allSatisfy { $0.type == "order.paid" })
            let notes = try events.map { event in
                try JSONDocument(Array(event.data.utf8)).root.object?["data"]?.object?["note"]?.string
            }
            #expect(notes == texts)
        }
    }

    @Test func aLedgerThatCannotBeReadBreaksTheStream() async throws {
        try await TestHouse().open { house in
            let stream = try #require(await house.follow().stream)
            _ = try await stream.next()
            await house.store.close()
            await #expect(throws: HTTPStream.Broken.self) { try await stream.next() }
        }
    }
}

/// A client, written from the specification.
private struct Parser {
    var events: [EventStreamTests.Event] = []
    private var event = EventStreamTests.Event()
    private var data: [String] = []
    private var line: [UInt8] = []
    private var isAfterReturn = false

    mutating func take(_ bytes: [UInt8]) {
        for byte in bytes {
            defer { isAfterReturn = byte == 0x0D }
            switch byte {
            case 0x0A where isAfterReturn: break
            case 0x0A, 0x0D: endLine()
            default: line.append(byte)
            }
        }
    }

    private mutating func endLine() {
        defer { line = [] }
        guard !line.isEmpty else { return dispatch() }
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : []
        if value.first == 0x20 { value = value.dropFirst() }
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: parts[0], as: UTF8.self) {
        case "id": event.id = text
        case "event": event.type = text
        case "data": data.append(text)
        default: break
        }
    }

    private mutating func dispatch() {
        defer {
            event.type = ""
            data = []
        }
        guard !data.isEmpty else { return }
        event.data = data.joined(separator: "\n")
        events.append(event)
    }
}
