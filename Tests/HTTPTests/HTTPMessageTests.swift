import HTTP
import Testing

@Suite struct HTTPMessageTests {
    @Test(
        arguments: [
            ("/", "/", nil), ("/a/b", "/a/b", nil), ("/a?b", "/a", "b"), ("/a?b?c", "/a", "b?c"), ("/a?", "/a", ""),
            ("/?a=/b", "/", "a=/b"), ("*", "*", nil), ("http://h/a?b", "/a", "b"), ("http://h", "/", nil),
            ("https://h?b", "/", "b"), ("http://u@h:1//a", "//a", nil), ("//h/a", "//h/a", nil), ("/a:b", "/a:b", nil),
        ] as [(String, String, String?)]
    )
    func aTargetIsSplit(target: String, path: String, query: String?) {
        let split = HTTPRequest.split(target: target.utf8)
        #expect(split.path == path)
        #expect(split.query == query)
    }

    @Test(
        arguments: [
            ([192, 0, 2, 1], "192.0.2.1"),
            ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1], "192.0.2.1"),
            ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], "::1"),
            ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "::"),
            ([0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], "2001:db8::1"),
            ([0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], "2001:db8:0:1:1:1:1:1"),
            ([0x20, 0x01, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1], "2001:0:0:1::1"),
            ([0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1], "2001:db8::1:0:0:1"),
            ([0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "fe80::"),
            ([], "unknown"),
        ] as [([UInt8], String)]
    )
    func anAddressIsWritten(bytes: [UInt8], text: String) {
        #expect(HTTPRemote(address: bytes, port: 1).description == text)
    }

    @Test func aBodyIsTakenOnceFromAllCopies() {
        let request = HTTPRequest(method: .post, path: "/", body: [1, 2, 3])
        var copy = request
        #expect(copy.body == [1, 2, 3])
        #expect(copy.takeBody() == [1, 2, 3])
        #expect(request.body == [] && copy.body == [] && request.takeBody() == [])
        copy.body = [4]
        #expect(copy.body == [4] && request.body == [])
        #expect(HTTPRequest(method: .get, path: "/").takeBody() == [])
    }

    @Test func everyNamedStatusHasAPhrase() {
        let named: [HTTPStatus] = [.ok, .created, .accepted, .noContent, .badRequest, .notFound, .headerTooLarge]
        #expect(named.allSatisfy { !$0.phrase.isEmpty })
        #expect(HTTPStatus(rawValue: 599).phrase == "")
    }
}
