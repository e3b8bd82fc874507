import HTTP

extension FramingTests.Good {
    private static let get = "GET /a HTTP/1.1\r\nHost: h\r\n"
    private static let post = "POST /a HTTP/1.1\r\nHost: h\r\n"
    private static let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"

    static let all: [Self] = [
        Self("a plain request", get + "\r\n", "GET /a "),
        Self("a query", "GET /a?b=c&d=%20? HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a?b=c&d=%20? "),
        Self("an empty query", "GET /a? HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a? "),
        Self("a whole address", "GET http://h:80/a?b HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a?b "),
        Self("a whole address without a path", "GET http://h?b HTTP/1.1\r\nHost: h\r\n\r\n", "GET /?b "),
        Self("the asterisk", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS * "),
        Self("a method of its own", "brew /a HTTP/1.1\r\nHost: h\r\n\r\n", "brew /a "),
        Self("an empty Host", "GET /a HTTP/1.1\r\nHost:\r\n\r\n", "GET /a "),
        Self("HTTP/1.0 that stays", "GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET /a "),
        Self("an empty line before", "\r\n" + get + "\r\n", "GET /a "),
        Self("a body", post + "Content-Length: 5\r\n\r\nhello", "POST /a hello"),
        Self("an empty body", post + "Content-Length: 0\r\n\r\n", "POST /a "),
        Self("a GET with a body", get + "Content-Length: 5\r\n\r\nhello", "GET /a hello"),
        Self("a length with zeros", post + "Content-Length: 005\r\n\r\nhello", "POST /a hello"),
        Self(
            "a body that looks like a request",
            post + "Content-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "POST /a GET / HTTP/1.1\r\n\r\n"
        ),
        Self("chunks", chunked + "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "POST /a hello!"),
        Self("no chunk but the last", chunked + "0\r\n\r\n", "POST /a "),
        Self(
            "chunk sizes in any form",
            chunked + "00a\r\n0123456789\r\nA\r\n0123456789\r\n000\r\n\r\n",
            "POST /a 01234567890123456789"
        ),
        Self("Chunked in capitals", post + "Transfer-Encoding: CHUNKED\r\n\r\n1\r\nx\r\n0\r\n\r\n", "POST /a x"),
        Self(
            "chunk extension and trailer",
            chunked + "5;a=b;c=\"d\"\r\nhello\r\n0;e\r\nX-T: 1\r\n\r\n",
            "POST /a hello"
        ),
        Self("a trailer named Host", chunked + "1\r\nx\r\n0\r\nHost: other\r\n\r\n", "POST /a x"),
        Self(
            "an expectation already met",
            post + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
            "POST /a hello"
        ),
    ]
}

extension FramingTests.Bad {
    private static let get = "GET /a HTTP/1.1\r\nHost: h\r\n"
    private static let post = "POST /a HTTP/1.1\r\nHost: h\r\n"
    private static let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"

    static let all: [Self] = lengths + chunks + lines + fields + targets + sizes

    private static let lengths: [Self] = [
        Self("CL and TE", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .bodyLength),
        Self("TE and CL", post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", .bodyLength),
        Self("two different CL", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", .bodyLength),
        Self("two equal CL", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", .bodyLength),
        Self("CL 5, 5", post + "Content-Length: 5, 5\r\n\r\nhello", .bodyLength),
        Self("CL 5,6", post + "Content-Length: 5,6\r\n\r\nhello", .bodyLength),
        Self("CL +5", post + "Content-Length: +5\r\n\r\nhello", .bodyLength),
        Self("CL -1", post + "Content-Length: -1\r\n\r\nhello", .bodyLength),
        Self("CL 0x5", post + "Content-Length: 0x5\r\n\r\nhello", .bodyLength),
        Self("CL 5 5", post + "Content-Length: 5 5\r\n\r\nhello", .bodyLength),
        Self("CL empty", post + "Content-Length:\r\n\r\nhello", .bodyLength),
        Self("CL beyond 64 bits", post + "Content-Length: 18446744073709551617\r\n\r\nhello", .bodyLength),
        Self("TE xchunked", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", .transferCoding),
        Self("TE VT chunked", post + "Transfer-Encoding: \u{B}chunked\r\n\r\n0\r\n\r\n", .field),
        Self("TE gzip, chunked", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", .transferCoding),
        Self("TE chunked, chunked", post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", .transferCoding),
        Self("TE identity", post + "Transfer-Encoding: identity\r\n\r\n", .transferCoding),
        Self("TE empty", post + "Transfer-Encoding:\r\n\r\n0\r\n\r\n", .transferCoding),
        Self("TE quoted", post + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", .transferCoding),
        Self(
            "TE twice",
            post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .bodyLength
        ),
        Self(
            "TE identity, then chunked",
            post + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .transferCoding
        ),
        Self("TE on HTTP/1.0", "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .bodyLength),
        Self("another expectation", post + "Content-Length: 5\r\nExpect: 200-ok\r\n\r\nhello", .expectation),
    ]

    private static let chunks: [Self] = [
        Self("chunk size 0x5", chunked + "0x5\r\nhello\r\n0\r\n\r\n", .chunk),
        Self("chunk size 5 and a space", chunked + "5 \r\nhello\r\n0\r\n\r\n", .chunk),
        Self("chunk size +5", chunked + "+5\r\nhello\r\n0\r\n\r\n", .chunk),
        Self("chunk size -5", chunked + "-5\r\nhello\r\n0\r\n\r\n", .chunk),
        Self("chunk size empty", chunked + "\r\nhello\r\n0\r\n\r\n", .chunk),
        Self("chunk size beyond 64 bits", chunked + "10000000000000005\r\nhello\r\n0\r\n\r\n", .chunk),
        Self("chunk extension ;LF", chunked + "5;\nhello\r\n0\r\n\r\n", .chunk),
        Self("chunk extension with LF in quotes", chunked + "5;a=\"\n\"\r\nhello\r\n0\r\n\r\n", .chunk),
        Self("chunk extension with NUL in quotes", chunked + "5;a=\"\0\"\r\nhello\r\n0\r\n\r\n", .chunk),
        Self("chunk extension with quotes that end in the data", chunked + "5;a=\"\r\nhel\"o\r\n0\r\n\r\n", .chunk),
        Self("chunk extension with quotes that never end", chunked + "5;a=\"\r\nhello\r\n", .chunk),
        Self("chunk extension empty", chunked + "5;\r\nhello\r\n0\r\n\r\n", .chunk),
        Self("chunk lines that end in LF", chunked + "5\nhello\n0\n\n", .chunk),
        Self("chunk longer than its size", chunked + "5\r\nhello!\r\n0\r\n\r\n", .chunk),
        Self("chunk size line with bare CR", chunked + "5\rX\r\nhello\r\n0\r\n\r\n", .chunk),
        Self("endless chunk size line", chunked + "5;a=" + String(repeating: "x", count: 20_000), .chunk),
        Self(
            "endless chunk extensions",
            chunked + String(repeating: "1;a=\(String(repeating: "x", count: 99))\r\nx\r\n", count: 50),
            .chunk
        ),
        Self("trailer with CL", chunked + "0\r\nContent-Length: 5\r\n\r\n", .bodyLength),
        Self("trailer with a space before the colon", chunked + "0\r\nX : 5\r\n\r\n", .field),
        Self("trailer with a folded line", chunked + "0\r\nX: 5\r\n 6\r\n\r\n", .field),
        Self("trailer that starts with a fold", chunked + "0\r\n X: 5\r\n\r\n", .field),
        Self("trailer with NUL", chunked + "0\r\nX: \0\r\n\r\n", .field),
    ]

    private static let lines: [Self] = [
        Self("bare LF after the request line", "GET /a HTTP/1.1\nHost: h\r\n\r\n", .requestLine),
        Self("bare LF after a field", "GET /a HTTP/1.1\r\nHost: h\nX: y\r\n\r\n", .field),
        Self("bare LF everywhere", "GET /a HTTP/1.1\nHost: h\n\n", .requestLine),
        Self("bare CR in a field", get + "X: a\rb\r\n\r\n", .field),
        Self("CR CR LF", get + "X: a\r\r\n\r\n", .field),
        Self("two empty lines before", "\r\n\r\n" + get + "\r\n", .requestLine),
        Self("a space before", " GET /a HTTP/1.1\r\nHost: h\r\n\r\n", .requestLine),
        Self("HTTP/0.9", "GET /a\r\n\r\n", .requestLine),
        Self("HTTP/1.2", "GET /a HTTP/1.2\r\nHost: h\r\n\r\n", .version),
        Self("HTTP/2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .version),
        Self("HTTP/0.9 by name", "GET /a HTTP/0.9\r\nHost: h\r\n\r\n", .version),
        Self("HTTP/1.10", "GET /a HTTP/1.10\r\nHost: h\r\n\r\n", .requestLine),
        Self("http/1.1", "GET /a http/1.1\r\nHost: h\r\n\r\n", .requestLine),
        Self("HTTP /1.1", "GET /a HTTP /1.1\r\nHost: h\r\n\r\n", .requestLine),
        Self("a space after the version", "GET /a HTTP/1.1 \r\nHost: h\r\n\r\n", .requestLine),
        Self("two spaces", "GET  /a HTTP/1.1\r\nHost: h\r\n\r\n", .requestLine),
        Self("tabs for spaces", "GET\t/a\tHTTP/1.1\r\nHost: h\r\n\r\n", .requestLine),
        Self("a method that is no token", "GE(T /a HTTP/1.1\r\nHost: h\r\n\r\n", .requestLine),
        Self("TLS", "\u{16}\u{3}\u{1}\u{2}\0\u{1}", .requestLine),
    ]

    private static let fields: [Self] = [
        Self("no Host", "GET /a HTTP/1.1\r\n\r\n", .host),
        Self("two Hosts", "GET /a HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", .host),
        Self("two Hosts on HTTP/1.0", "GET /a HTTP/1.0\r\nHost: h\r\nHost: i\r\n\r\n", .host),
        Self("Host with a comma", "GET /a HTTP/1.1\r\nHost: h,i\r\n\r\n", .host),
        Self("Host with a path", "GET /a HTTP/1.1\r\nHost: h/a\r\n\r\n", .host),
        Self("Host with a user", "GET /a HTTP/1.1\r\nHost: u@h\r\n\r\n", .host),
        Self("Host with a space", "GET /a HTTP/1.1\r\nHost: h i\r\n\r\n", .host),
        Self("a space before the colon", "GET /a HTTP/1.1\r\nHost : h\r\n\r\n", .field),
        Self("a folded line", get + "X: a\r\n b\r\n\r\n", .field),
        Self("a folded line after an empty one", get + "X:\r\n\tb\r\n\r\n", .field),
        Self("a fold as the first field", "GET /a HTTP/1.1\r\n Host: h\r\n\r\n", .field),
        Self("a field without a colon", get + "X\r\n\r\n", .field),
        Self("a field without a name", get + ": x\r\n\r\n", .field),
        Self("a name that is no token", get + "X[]: x\r\n\r\n", .field),
        Self("a name that is not ASCII", get + "X\u{E9}: x\r\n\r\n", .field),
        Self("NUL in a field", get + "X: a\0b\r\n\r\n", .field),
        Self("NUL in a name", get + "X\0: b\r\n\r\n", .field),
        Self("a control byte in a field", get + "X: a\u{1}b\r\n\r\n", .field),
        Self("DEL in a field", get + "X: a\u{7F}b\r\n\r\n", .field),
        Self("Connection that is no list", get + "Connection: (\r\n\r\n", .field),
    ]

    private static let targets: [Self] = [
        Self("a target without a slash", "GET a HTTP/1.1\r\nHost: h\r\n\r\n", .target),
        Self("the asterisk for GET", "GET * HTTP/1.1\r\nHost: h\r\n\r\n", .target),
        Self("a tunnel", "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", .target),
        Self("a fragment", "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", .target),
        Self("a target that is not ASCII", "GET /\u{E9} HTTP/1.1\r\nHost: h\r\n\r\n", .target),
        Self("another scheme", "GET ftp://h/a HTTP/1.1\r\nHost: h\r\n\r\n", .target),
        Self("NUL in the target", "GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", .requestLine),
        Self("a control byte in the target", "GET /\u{1} HTTP/1.1\r\nHost: h\r\n\r\n", .requestLine),
    ]

    private static let sizes: [Self] = [
        Self("a body beyond the limit, announced", post + "Content-Length: 1048577\r\n\r\n", .bodyTooLarge),
        Self("a body beyond the limit, in chunks", chunked + "100001\r\n", .bodyTooLarge),
        Self("a body beyond the limit, in several chunks", chunked + "5\r\nhello\r\nFFFFF\r\n", .bodyTooLarge),
        Self("a body beyond all limits, in chunks", chunked + "FFFFFFFFFFFFFFFF\r\n", .bodyTooLarge),
        Self("a target beyond the limit", "GET /\(String(repeating: "x", count: 20_000))", .targetTooLong),
        Self("a header of 100 KB", get + "X: \(String(repeating: "x", count: 100_000))\r\n\r\n", .headerTooLarge),
        Self(
            "a trailer beyond the limit",
            chunked + "0\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n",
            .headerTooLarge
        ),
        Self("1,500 fields", get + String(repeating: "X: y\r\n", count: 1_500) + "\r\n", .headerTooLarge),
        Self("101 fields", get + String(repeating: "X: y\r\n", count: 100) + "\r\n", .headerTooLarge),
    ]
}
