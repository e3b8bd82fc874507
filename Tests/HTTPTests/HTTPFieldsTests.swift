import HTTP
import Testing

@Suite struct HTTPFieldsTests {
    @Test func namesAreComparedWithoutRegardToCase() {
        let fields: HTTPFields = ["Content-Type": "a", "X": "b"]
        #expect(fields["content-type"] == "a")
        #expect(fields["CONTENT-TYPE"] == "a")
        #expect(fields["content_type"] == nil)
        #expect(fields["Content-Typ"] == nil)
    }

    /// The Kelvin sign is a K to a Unicode-minded comparison, and no K on the wire.
    @Test func onlyASCIILettersHaveCase() {
        let fields: HTTPFields = ["\u{212A}ey": "a"]
        #expect(fields["Key"] == nil)
        #expect(fields["key"] == nil)
    }

    @Test func orderAndRepetitionAreKept() {
        var fields: HTTPFields = ["B": "1", "A": "2"]
        fields.append("b", "3")
        #expect(fields.map(\.name) == ["B", "A", "b"])
        #expect(fields["b"] == "1")
        #expect(fields.all("B") == ["1", "3"])
        #expect(fields.single("b") == nil)
        #expect(fields.single("a") == "2")
        #expect(fields.single("c") == nil)
    }

    @Test func settingReplacesAllOfTheName() {
        var fields: HTTPFields = ["A": "1", "B": "2", "a": "3"]
        fields["A"] = "4"
        #expect(fields.all("a") == ["4"])
        fields["a"] = nil
        #expect(fields.map(\.name) == ["B"])
    }

    @Test(arguments: [
        ("X-A", "", true), ("x", "printable ~ ASCII\t!", true), ("!#$%&'*+-.^_`|~1aZ", "a", true),
        ("", "a", false), ("a b", "a", false), ("a:", "a", false), ("\u{E9}", "a", false), ("a", "\r", false),
        ("a", "b\nc", false), ("a", "\0", false), ("a", "\u{7F}", false), ("a", "\u{80}", false),
        ("a", "\u{E9}", false),
    ])
    func onlyASCIIWithoutControlsMayBeSent(name: String, value: String, isSendable: Bool) {
        #expect(HTTPFields([.init(name: name, value: value)]).isSendable == isSendable)
    }
}
