import Dashboard
import Testing

/// Text from outside cannot become markup.
@Suite struct EscapingTests {
    @Test(arguments: [
        ("plain", "plain"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        // As one Character this would be no `<`.
        ("<\u{301}script>", "&lt;\u{301}script&gt;"),
        ("\"\u{308} onload='x'", "&quot;\u{308} onload=&#39;x&#39;"),
        ("a & b", "a &amp; b"), ("&lt;", "&amp;lt;"), ("`x`", "&#96;x&#96;"),
        ("line\nand\ttab", "line\nand\ttab"),
        ("nul\0 bell\u{7} c1\u{85}", "nul\u{FFFD} bell\u{FFFD} c1\u{FFFD}"),
        ("\u{202E}reversed\u{2066}", "\u{FFFD}reversed\u{FFFD}"),
        ("\r\n", "\u{FFFD}\n"),
        ("Größe 漢字 👩‍👩‍👧", "Größe 漢字 👩‍👩‍👧"),
    ])
    func textIsShownAndNeverObeyed(text: String, shown: String) {
        #expect(Escaping.escaped(text).utf8.elementsEqual(shown.utf8))
    }

    @Test(arguments: [0xFDD0, 0xFDEF, 0xFFFE, 0x1FFFF, 0x10FFFF] as [UInt32])
    func whatIsNoCharacterIsShownAsSuch(number: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(number))
        #expect(Escaping.escaped(String(scalar)).utf8.elementsEqual("\u{FFFD}".utf8))
    }

    /// Whatever comes in, none of these five comes out as itself.
    @Test func noMarkStaysForAnyNeighbour() {
        for mark in ["<", ">", "\"", "'", "&", "`"] {
            for neighbour in ["", "\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}", "\u{0}", "a"] {
                let shown = Escaping.escaped(neighbour + mark + neighbour)
                let rest = shown.unicodeScalars.filter { $0 != "&" }
                #expect(!rest.contains { mark.unicodeScalars.contains($0) } || mark == "&")
                #expect(shown.unicodeScalars.count { $0 == "&" } == 1)
            }
        }
    }
}

/// Forms are read strictly.
@Suite struct FormFieldsTests {
    @Test(arguments: [
        ("", ""), ("q=1", "1"), ("q=a+b%2Bc", "a b+c"), ("q", ""), ("q=%3Cb%3E", "<b>"), ("x=1&q=2&y=3", "2"),
        ("q=a=b", "a=b"), ("q=%E2%82%AC", "€"),
    ])
    func aFieldIsWhatWasSent(text: String, value: String) {
        #expect(FormFields(text.utf8)?["q"] == value)
    }

    @Test(arguments: ["q=%", "q=%2", "q=%zz", "q=1&q=2", "q=%FF", "%ff=1", String(repeating: "a=1&", count: 40)])
    func whatIsCrookedIsRefused(text: String) {
        #expect(FormFields(text.utf8) == nil)
    }
}
