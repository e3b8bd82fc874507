import Encoding
import Pipeline
import PurchaseModel
import Testing

@Suite struct ImportReaderTests {
    /// `line proof customer`, or the line and why it is none.
    private static func words(_ rows: [ImportRow]) -> [String] {
        rows.map { row in
            switch row.claim {
            case .success(let claim):
                "\(row.line) \(String(decoding: claim.proof, as: UTF8.self)) \(claim.customer?.text ?? "-")"
            case .failure(let fault): "\(row.line) \(fault.rawValue)"
            }
        }
    }

    private static func source(_ text: String, by step: Int = 7) -> ImportSource {
        let bytes = Array(text.utf8)
        return ImportSource { place in
            let start = min(Int(place), bytes.count)
            return .init(bytes: Array(bytes[start..<min(start + step, bytes.count)]))
        }
    }

    private static func read(
        _ text: String,
        _ format: ImportFormat,
        _ columns: ImportColumns = .usual
    ) throws -> [String] {
        var reader = try ImportReader(source(text), format, columns)
        var rows: [ImportRow] = []
        while case let more = try reader.next(3, bytesMax: 1_000), !more.isEmpty { rows += more }
        // From each row on the rest is the same: so an import goes on where it was cut off.
        for (place, row) in rows.enumerated() {
            var later = try ImportReader(source(text, by: 11), format, columns, from: row.end, line: row.lineAfter)
            #expect(words(try later.next(1_000, bytesMax: 1_000_000)) == words(Array(rows.dropFirst(place + 1))))
        }
        return words(rows)
    }

    private static let comma = ImportFormat.table(.quoted(delimiter: UInt8(ascii: ",")))

    @Test func aTablesColumnsAreFoundByTheirNames() throws {
        let text = """
            \u{FEFF}price,customer_id,proof,transaction_id
            1,ann,eyJ.a.b,
            2,bob,,2000000000000001
            3,,,7

            4,"c,d",x,
            5,dan,,-1
            6,eve,,
            7,fay
            8,"gus
            """
        #expect(
            try Self.read(text, Self.comma) == [
                "2 eyJ.a.b ann", "3 2000000000000001 bob", "4 7 -", "6 x c,d", "7 transaction_id", "8 no_proof",
                "9 field_count", "10 quote",
            ]
        )
    }

    /// A quote in the middle of a field is text, and takes no other row along.
    @Test func aStrayQuoteIsTheRowsAlone() throws {
        let text = "proof,size,customer\np,5\",ann\nq,6,bob\n\"r\",\"7\"x\",cid\ns,\"8\n\"\"9\"\"\",dan\nt,1,\n"
        #expect(try Self.read(text, Self.comma) == ["2 p ann", "3 q bob", "4 quote", "5 s dan", "7 t -"])
    }

    @Test func blanksAroundDelimitersAreNoPartOfAField() throws {
        let text = "receipt, user_id\np, ann\nq,\tbob \nr,  \n"
        #expect(try Self.read(text, Self.comma) == ["2 p ann", "3 q bob", "4 r -"])
    }

    /// So do the clients of databases write that nobody is known; what stands between quotes is text.
    @Test func whatADatabaseDoesNotKnowIsNothing() throws {
        let text = "receipt,customer_id,user_id\np,\\N,ann\nq,NULL, NULL\nr,\"NULL\",bob\n\\N,cid,\n"
        #expect(try Self.read(text, Self.comma) == ["2 p ann", "3 q -", "4 customer_id", "5 no_proof"])
        let tabs = text.replacing(",", with: "\t").replacing("\"", with: "")
        #expect(try Self.read(tabs, .table(.quoted(delimiter: 0x09))) == ["2 p ann", "3 q -", "4 r bob", "5 no_proof"])
    }

    /// The offsets of the rows count it, so that an import goes on at the right place.
    @Test(arguments: [
        (name: "x", text: "{\"proof\": \"p\"}\n{\"proof\": \"q\"}\n", rows: ["1 p -", "2 q -"]),
        ("x", "MII\nMIJ\n", ["1 MII -", "2 MIJ -"]),
        ("x.csv", "receipt,user_id\np,ann\n", ["2 p ann"]),
        ("x", "receipt\tuser_id\np\tann\n", ["2 p ann"]),
    ])
    func aByteOrderMarkIsNoText(name: String, text: String, rows: [String]) throws {
        let marked = "\u{FEFF}" + text
        let format = ImportFormat.guess(name: name, Array(marked.utf8), .usual)
        #expect(format == ImportFormat.guess(name: name, Array(text.utf8), .usual))
        #expect(try Self.read(marked, format) == rows)
        #expect(try Self.read(text, format) == rows)
    }

    @Test func whereLinesEndWithCRAloneTheWholeWouldBeTheHeader() throws {
        for text in ["receipt,user_id\rp,ann\r", "receipt,user_id\r\r\np,ann\r\r\n", "id\rreceipt\r"] {
            #expect(throws: ImportSourceFault.lineEnds) { try Self.read(text, Self.comma) }
        }
        #expect(throws: ImportSourceFault.lineEnds) { try Self.read("jws\tid\rp\t1\r", .table(.tabs)) }
        #expect(try Self.read("receipt,\"of\rwhom\"\r\np,ann\r\n", Self.comma) == ["2 p -"])
    }

    @Test func linesOfJSONAreRows() throws {
        let text = """
            {"proof": "eyJ.a.b", "customer_id": "ann"}
            {"transaction_id": 2000000000000001, "user_id": "bob"}
            {"transaction_id": "x"}
            [1]
            {"proof":
            {"customer": "with space", "proof": "p"}
            {"jws": null, "receipt": "MII"}
            {"customer": "..", "proof": "p"}
            """
        #expect(
            try Self.read(text, .jsonLines) == [
                "1 eyJ.a.b ann", "2 2000000000000001 bob", "3 transaction_id", "4 json", "5 json", "6 customer_id",
                "7 MII -", "8 customer_id",
            ]
        )
    }

    /// What stands there and cannot be read is neither nothing nor made up for by the next name: it would be somebody else's.
    @Test(arguments: [
        (value: "42.0", customer: "customer_id", number: "transaction_id"),
        ("4e1", "customer_id", "transaction_id"), ("true", "customer_id", "transaction_id"),
        ("{}", "customer_id", "transaction_id"), (#"{"$oid":"5f"}"#, "customer_id", "transaction_id"),
        ("[7]", "customer_id", "transaction_id"), ("-7", "5 -7", "transaction_id"),
        ("18446744073709551615", "5 18446744073709551615", "transaction_id"),
        ("null", "5 bob", "6 ann"), (#""""#, "5 bob", "6 ann"),
    ])
    func aValueThatCannotBeReadEndsItsRow(value: String, customer: String, number: String) throws {
        let owned = #"{"transaction_id":5,"customer_id":\#(value),"user_id":"bob"}"#
        #expect(try Self.read(owned, .jsonLines) == ["1 \(customer)"])
        let alone = #"{"transaction_id":5,"customer_id":\#(value)}"#
        #expect(try Self.read(alone, .jsonLines) == ["1 \(customer.replacing("bob", with: "-"))"])
        let numbered = #"{"transaction_id":\#(value),"original_transaction_id":"6","customer":"ann"}"#
        #expect(try Self.read(numbered, .jsonLines) == ["1 \(number)"])
        // What is no purchase of Apple's is no failure, whoever's it is.
        let elsewhere = #"{"transaction_id":5,"customer_id":\#(value),"store":"stripe"}"#
        #expect(try Self.read(elsewhere, .jsonLines) == ["1 other_store"])
    }

    /// A value of another kind is refused as a proof, as its text would be in a table; an object is what answers of
    /// verifyReceipt have as `receipt`, beside their `latest_receipt`.
    @Test(arguments: [
        (value: "42.0", row: "42.0 ann"), ("true", "true ann"), ("18446744073709551615", "18446744073709551615 ann"),
        ("{}", "MII ann"), ("[1]", "MII ann"), ("null", "MII ann"), (#""""#, "MII ann"),
    ])
    func anotherValueThanAProofIsNotPassedOver(value: String, row: String) throws {
        let object = #"{"receipt":\#(value),"latest_receipt":"MII","user_id":"ann"}"#
        #expect(try Self.read(object, .jsonLines) == ["1 \(row)"])
    }

    /// A column that is only called `store` may hold anything; one that was given says where something was bought.
    @Test(arguments: ["42.0", "18446744073709551615", "true", "{}"])
    func aStoreOfAnotherKindIsNoneOfApples(value: String) throws {
        let object = #"{"transaction_id":5,"user_id":"ann","store":\#(value)}"#
        #expect(try Self.read(object, .jsonLines) == ["1 5 ann"])
        let given = try #require(ImportColumns.usual.replacing("store=store"))
        #expect(try Self.read(object, .jsonLines, given) == ["1 other_store"])
        let assay = try #require(ImportColumns.presets["assay"])
        let kind = #"{"kind":\#(value),"transaction_id":"5","environment":"sandbox"}"#
        #expect(try Self.read(kind, .jsonLines, assay) == ["1 other_kind"])
    }

    @Test func aLineMayBeAProof() throws {
        #expect(try Self.read("MII\n\n2000000000000001\n", .lines) == ["1 MII -", "3 2000000000000001 -"])
    }

    /// Without a word about it only another store's name counts: a column `store` may be the shop's own.
    @Test(arguments: [
        ("play_store", "5", true), ("Google_Play", "5", true), ("stripe", "", true), ("app_store", "5", false),
        ("Berlin", "5", false), ("", "5", false), ("", "GPA.3345-1234-5678-90123", true), ("", "sub_1Ab", true),
        ("app_store", "GPA.3345-1234-5678-90123", true),
    ])
    func whatWasBoughtElsewhereIsPassedOver(store: String, number: String, isElsewhere: Bool) throws {
        let table = "transaction_id,store,user_id\n\(number),\(store),ann\n"
        let words = isElsewhere ? "other_store" : "5 ann"
        #expect(try Self.read(table, Self.comma) == ["2 \(words)"])
        let object = #"{"transaction_id":"\#(number)","store":"\#(store)","user_id":"ann"}"#
        #expect(try Self.read(object, .jsonLines) == ["1 \(words)"])
        // A proof is looked at, whatever stands beside it.
        let proof = "receipt,transaction_id,user_id\nMII,GPA.3345,ann\n"
        #expect(try Self.read(proof, Self.comma) == ["2 MII ann"])
        // Where the column was given, what is none of Apple's is another's.
        let given = try #require(ImportColumns.usual.replacing("store=store"))
        let isNamed = isElsewhere || store == "Berlin"
        #expect(try Self.read(table, Self.comma, given) == ["2 \(isNamed ? "other_store" : "5 ann")"])
    }

    @Test func otherServicesExportsAreKnown() throws {
        let revenueCat = try #require(ImportColumns.presets["revenuecat"])
        let text = """
            rc_original_app_user_id;rc_last_seen_app_user_id_alias;store;is_sandbox;store_transaction_id
            $RCAnonymousID:1;ann;app_store;false;2000000000000001
            $RCAnonymousID:2;;app_store;true;2000000000000002
            $RCAnonymousID:3;cid;play_store;false;GPA.1234
            bob;$RCAnonymousID:4;app_store;false;2000000000000005
            $RCAnonymousID:5;$RCAnonymousID:6;App_Store;false;2000000000000006
            eve;eve;PLAY_STORE;false;GPA.1235
            """
        let format = ImportFormat.guess(name: "transactions.csv", Array(text.utf8), revenueCat)
        #expect(format == .table(.quoted(delimiter: UInt8(ascii: ";"))))
        #expect(
            try Self.read(text, format, revenueCat) == [
                "2 2000000000000001 ann", "3 2000000000000002 -", "4 other_store", "5 2000000000000005 bob",
                "6 2000000000000006 -", "7 other_store",
            ]
        )
        let object = #"{"rc_last_seen_app_user_id_alias":"$RCAnonymousID:7","store_transaction_id":8}"#
        #expect(try Self.read(object, .jsonLines, revenueCat) == ["1 8 -"])
        let adapty = try #require(ImportColumns.presets["adapty"])
        let head = "profile_id,original_transaction_id,customer_user_id,store\n"
        let events = head + "p-1,5,ann,app_store\np-2,6,,app_store\n"
        #expect(try Self.read(events, Self.comma, adapty) == ["2 5 ann", "3 6 -"])
        let profiles = try #require(adapty.replacing("customer=profile_id"))
        #expect(try Self.read(events, Self.comma, profiles) == ["2 5 p-1", "3 6 p-2"])
    }

    @Test func eachRowOfOurOwnExportIsOfOneTransaction() throws {
        func words(_ text: String, _ format: ImportFormat) throws -> [String] {
            let assay = try #require(ImportColumns.presets["assay"])
            var reader = try ImportReader(Self.source(text), format, assay)
            return try reader.next(100, bytesMax: 1_000_000).map { row in
                guard case .success(let claim) = row.claim else { return Self.words([row])[0] }
                guard let subject = claim.subject else { return "all" }
                let side = subject.realm.map { "\($0.environment)\($0.isTestSigned ? " test" : "")" } ?? "-"
                return
                    "\(String(decoding: claim.proof, as: UTF8.self)) \(subject.id) \(side) \(claim.customer?.text ?? "-")"
            }
        }
        let lines = """
            {"kind":"transaction","transaction_id":"5","environment":"sandbox","test_signed":true,"owner_id":"ann","proof":"p"}
            {"kind":"transaction","transaction_id":"6","environment":"production","customer_id":"bob"}
            {"kind":"transaction","transaction_id":"6"}
            {"kind":"transaction","proof":"p","owner_id":"ann"}
            {"kind":"order","transaction_id":"6"}
            """
        #expect(
            try words(lines, .jsonLines) == [
                "p 5 sandbox test ann", "6 6 production bob", "6 6 - -", "4 transaction_id", "5 other_kind",
            ]
        )
        let table = """
            kind,environment,test_signed,transaction_id,owner_id,customer_id,proof
            transaction,sandbox,true,5,ann,bob,p
            transaction,production,,6,,bob,
            """
        #expect(try words(table, Self.comma) == ["p 5 sandbox test ann", "6 6 production bob"])
    }

    @Test(arguments: [
        (name: "x", head: "{\"proof\": 1}\n", format: ImportFormat.jsonLines),
        ("x", "id,proof\n", .table(.quoted(delimiter: UInt8(ascii: ",")))),
        ("x.tsv", "id\tproof\n", .table(.tabs)), ("x", "id\tproof\n", .table(.tabs)),
        ("x.csv", "proof\n", .table(.quoted(delimiter: UInt8(ascii: ",")))),
        ("x.csv", "id\tproof\n", .table(.quoted(delimiter: 0x09))),
        ("x", "MIIabc\nMIIdef\n", .lines), ("x", "2000000000000001\n", .lines),
        ("x", "0\u{82}\u{01}\n", .files(namesCustomers: false)),
        // What is called a table is one, and says which columns it has.
        ("x.csv", "Receipt,User_ID\n", .table(.quoted(delimiter: UInt8(ascii: ",")))),
        ("x.csv", "\nreceipt;user_id\n", .table(.quoted(delimiter: UInt8(ascii: ",")))),
        ("x.tsv", "Receipt\tUser_ID\n", .table(.tabs)), ("x", "Receipt,User_ID\n", .lines),
    ])
    func aFormatIsGuessed(name: String, head: String, format: ImportFormat) {
        #expect(ImportFormat.guess(name: name, Array(head.utf8), .usual) == format)
    }

    @Test func columnsAreNamedByHand() throws {
        let columns = try #require(ImportColumns.usual.replacing("transaction_id=id,customer=account,receipt=blob"))
        #expect(try Self.read("id,account,blob\n1,ann,\n2,bob,p\n", Self.comma, columns) == ["2 1 ann", "3 p bob"])
        for words in ["id", "price=x", "customer="] { #expect(ImportColumns.usual.replacing(words) == nil) }
        #expect(throws: ImportSourceFault.noColumns(found: ["id", "blob"])) {
            try Self.read("id,blob\n1,2\n", Self.comma)
        }
        #expect(throws: ImportSourceFault.noColumns(found: [])) { try Self.read("", Self.comma) }
    }

    @Test func aFilesNameMayBeItsCustomer() throws {
        let files: [(String, [UInt8]?)] = [
            ("ann.receipt", [65, 65, 65]), ("b b.receipt", [1]), ("cid", []), ("dan", nil), ("disk.image", nil),
        ]
        let source = ImportSource { place in
            guard files.indices.contains(Int(place)) else { return .init(bytes: nil) }
            let (name, bytes) = files[Int(place)]
            return .init(bytes: bytes, name: name, isTooLong: name == "disk.image")
        }
        var reader = try ImportReader(source, .files(namesCustomers: true), .usual)
        #expect(
            Self.words(try reader.next(10, bytesMax: 10)) == [
                "1 AAA ann", "2 customer_id", "3 no_proof", "4 file_unreadable", "5 row_too_long",
            ]
        )
    }
}
