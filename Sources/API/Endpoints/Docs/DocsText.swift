/// HTML as it is written: whatever is not ours to shape goes through ``text(_:)``.
struct DocsText {
    private(set) var bytes: [UInt8] = []

    /// Markup of our own.
    mutating func raw(_ markup: String) { bytes.append(contentsOf: markup.utf8) }

    /// Byte by byte: a sign that carries a combining mark is escaped like any other.
    mutating func text(_ text: some StringProtocol) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): raw("&amp;")
            case UInt8(ascii: "<"): raw("&lt;")
            case UInt8(ascii: ">"): raw("&gt;")
            case UInt8(ascii: "\""): raw("&quot;")
            case UInt8(ascii: "'"): raw("&#39;")
            default: bytes.append(byte)
            }
        }
    }

    mutating func link(_ address: String, _ words: String) {
        raw("<a href=\"")
        text(address)
        raw("\">")
        text(words)
        raw("</a>")
    }

    /// A program, which may be wider than the page: it can be reached and scrolled by keys, and its name is nobody else's on
    /// the page.
    mutating func code(_ language: String, of subject: String, _ program: String) {
        raw("<pre tabindex=\"0\" role=\"region\" aria-label=\"")
        text("\(language): \(subject)")
        raw("\"><code>")
        text(program)
        raw("</code></pre>")
    }

    /// The little Markdown that descriptions have: paragraphs, lists, `code`.
    mutating func prose(_ words: String) {
        var isList = false
        for line in words.split(separator: "\n", omittingEmptySubsequences: true) {
            let isItem = line.hasPrefix("- ")
            if isItem != isList { raw(isItem ? "<ul>" : "</ul>") }
            isList = isItem
            raw(isItem ? "<li>" : "<p>")
            inline(isItem ? line.dropFirst(2) : line)
            raw(isItem ? "</li>" : "</p>")
        }
        if isList { raw("</ul>") }
    }

    private mutating func inline(_ line: Substring) {
        var isCode = false
        for part in line.split(separator: "`", omittingEmptySubsequences: false) {
            if isCode { raw("<code>") }
            text(part)
            if isCode { raw("</code>") }
            isCode.toggle()
        }
    }
}
