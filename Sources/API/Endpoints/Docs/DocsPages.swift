import Crypto
import Encoding
import HTTP

/// `GET /docs` and `GET /docs/{section}`: the description as pages for people, rendered here, without a script and without
/// anything of another origin.
package struct DocsPages: Sendable {
    /// This server's, made once.
    package static let standard = DocsPages(Description.standard.document)

    private let pages: [String: [UInt8]]
    private let policy: String

    private init(_ document: JSONDocument) {
        guard let root = document.root.object else { preconditionFailure("the description is an object") }
        let operations = DocsOperation.all(in: root)
        let sections = DocsSection.all(in: root)
        let style = String(decoding: PackageResources.docs_css, as: UTF8.self)
        var pages = ["": DocsPages.index(root, sections, operations, style)]
        for section in sections {
            pages[section.path] = DocsPages.page(
                section,
                sections,
                operations.filter { $0.section == section.name },
                style
            )
        }
        self.pages = pages
        let hash = Base64.encode(Digest.sha256(Array(style.utf8)), .standard, isPadded: true)
        policy =
            "default-src 'none'; style-src 'sha256-\(String(decoding: hash, as: UTF8.self))'; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'"
    }

    /// The page of a section, as it stands in the path; the first page for none.
    func respond(_ section: String) -> HTTPResponse {
        guard let page = pages[section] else { return Problem.notFound("section") }
        let fields: HTTPFields = [
            "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
        ]
        return HTTPResponse(.ok, fields: fields, body: page)
    }

    private static func index(
        _ root: JSONObject,
        _ sections: [DocsSection],
        _ operations: [DocsOperation],
        _ style: String
    ) -> [UInt8] {
        document("The HTTP API", sections, style) { html in
            html.prose(root["info"]?.object?["description"]?.string ?? "")
            html.raw("<h2>A purchase in an app</h2>")
            html.prose(
                "Finish the transaction only when the answer is a 200: an unfinished one comes again by itself, so that not "
                    + "even an answer that is lost on its way loses a purchase."
            )
            html.code("Swift", of: "a purchase in an app", DocsSnippet.purchase)
            html.raw("<h2>All operations</h2>")
            for section in sections {
                html.raw("<h3>")
                html.link("/docs/\(section.path)", section.name)
                html.raw("</h3>")
                html.prose(section.summary)
                html.raw("<ul>")
                for operation in operations where operation.section == section.name {
                    html.raw("<li>")
                    html.link("/docs/\(section.path)#\(operation.id)", "\(operation.method) \(operation.path)")
                    html.text(" " + operation.summary)
                    html.raw("</li>")
                }
                html.raw("</ul>")
            }
        }
    }

    private static func page(
        _ section: DocsSection,
        _ sections: [DocsSection],
        _ operations: [DocsOperation],
        _ style: String
    ) -> [UInt8] {
        document(section.name, sections, style) { html in
            html.prose(section.summary)
            for operation in operations { operation.write(into: &html) }
        }
    }

    private static func document(
        _ title: String,
        _ sections: [DocsSection],
        _ style: String,
        _ body: (inout DocsText) -> Void
    ) -> [UInt8] {
        var html = DocsText()
        html.raw("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">")
        html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>")
        html.text(title + " · Assay")
        // Ours, and hashed as it stands: not escaped.
        html.raw("</title><style>" + style + "</style></head><body>")
        html.raw("<a class=\"skip\" href=\"#main\">To the content</a><header><nav aria-label=\"Sections\"><ul><li>")
        html.link("/docs", "Assay")
        html.raw("</li>")
        for section in sections {
            html.raw("<li>")
            html.link("/docs/\(section.path)", section.name)
            html.raw("</li>")
        }
        html.raw("<li>")
        html.link("/openapi.json", "OpenAPI")
        html.raw("</li></ul></nav></header><main id=\"main\"><h1>")
        html.text(title)
        html.raw("</h1>")
        body(&html)
        html.raw("</main></body></html>\n")
        return html.bytes
    }
}

/// A group of operations, and a page.
struct DocsSection: Sendable {
    let name: String
    let summary: String

    /// Lower case, with hyphens.
    var path: String {
        let bytes = name.utf8.map { $0 == 0x20 ? UInt8(ascii: "-") : (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func all(in root: JSONObject) -> [DocsSection] {
        (root["tags"]?.array).map { tags in
            tags.compactMap(\.object).map {
                DocsSection(name: $0["name"]?.string ?? "", summary: $0["description"]?.string ?? "")
            }
        } ?? []
    }
}
