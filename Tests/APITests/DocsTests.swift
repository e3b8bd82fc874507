import API
import Crypto
import Encoding
import HTTP
import TestSupport
import Testing

/// The description as pages.
@Suite struct DocsTests {
    private static func page(_ path: String) async throws -> (fields: HTTPFields, text: String) {
        let answer = try await TestHouse().get(path, key: nil)
        #expect(answer.status == .ok, "\(path)")
        return (answer.fields, String(decoding: answer.body, as: UTF8.self))
    }

    private static func sections() async throws -> [String] {
        let index = try await page("/docs").text
        return Array(Set(index.matches(of: /href="(\/docs\/[^"#]+)"/).map { String($0.1) })).sorted()
    }

    @Test func everyOperationIsOnOnePage() async throws {
        let document = try #require(Description.standard.document.root.object)
        let operations = try #require(document["paths"]?.object).members.flatMap { _, item in
            (item.object?.members).map { Array($0) } ?? []
        }.compactMap { $0.value.object?["operationId"]?.string }
        var shown: [String] = []
        for path in try await Self.sections() {
            shown += try await Self.page(path).text.matches(of: /<article id="(\w+)">/).map { String($0.1) }
        }
        #expect(shown.sorted() == operations.sorted())
    }

    /// No script, nothing of another origin, and the one style is the one that the policy names.
    @Test func nothingIsFetchedAndNothingRuns() async throws {
        for path in ["/docs"] + (try await Self.sections()) {
            let (fields, text) = try await Self.page(path)
            #expect(fields["Content-Type"] == "text/html; charset=utf-8")
            #expect(!text.contains("<script") && !text.contains("<img") && !text.contains("<link"), "\(path)")
            let links = text.matches(of: /(?:src|href)="([^"]*)"/)
            #expect(links.allSatisfy { $0.1.hasPrefix("/") || $0.1.hasPrefix("#") })
            #expect(text.matches(of: #/(?:\sstyle=|\son[a-z]+=)/#).isEmpty, "\(path)")
            let style = try #require(text.firstMatch(of: /<style>((?s).*?)<\/style>/)).1
            let hash = Base64.encode(Digest.sha256(Array(style.utf8)), .standard, isPadded: true)
            let policy = try #require(fields["Content-Security-Policy"])
            let named = "style-src 'sha256-\(String(decoding: hash, as: UTF8.self))';"
            #expect(policy.hasPrefix("default-src 'none'; \(named)"))
            #expect(text.utf8.count < 100_000, "\(path): \(text.utf8.count)")
            // Every element that is opened is closed.
            for name in ["article", "dl", "dd", "dt", "ul", "li", "p", "pre", "code", "main", "nav", "a", "h2", "h3"] {
                let opened = text.matches(of: try Regex("<\(name)[ >]")).count
                #expect(opened == text.matches(of: try Regex("</\(name)>")).count, "\(path) \(name)")
            }
        }
    }

    @Test func eachIsCalledInCurlAndSwift() async throws {
        let text = try await Self.page("/docs/purchases").text
        #expect(text.contains("curl --fail-with-body &quot;$ASSAY/v1/purchases&quot;"))
        #expect(text.contains("--header &quot;Authorization: Bearer $KEY&quot;"))
        #expect(text.contains("URLRequest(url: server.appending(path: &quot;v1/purchases&quot;))"))
        #expect(try await Self.page("/docs").text.contains("await transaction.finish()"))
    }

    @Test func thereIsNoOtherSection() async throws {
        let answer = try await TestHouse().get("/docs/none", key: nil)
        #expect(answer.status == .notFound)
    }
}
