/// How an operation is called, to be copied.
enum DocsSnippet {
    struct Call {
        let method: String
        let path: String
        let needsKey: Bool
        /// JSON.
        let body: String?
    }

    static func curl(_ call: Call) -> String {
        var lines = ["curl --fail-with-body \"$ASSAY\(call.path)\""]
        if call.method != "GET" { lines.append("  --request \(call.method)") }
        if call.needsKey { lines.append("  --header \"Authorization: Bearer $KEY\"") }
        if let body = call.body {
            lines.append("  --header 'Content-Type: application/json'")
            lines.append("  --data '\(body.replacing("'", with: "'\\''"))'")
        }
        return lines.joined(separator: " \\\n")
    }

    static func swift(_ call: Call) -> String {
        var lines = ["var request = URLRequest(url: server.appending(path: \"\(call.path.dropFirst())\"))"]
        if call.method != "GET" { lines.append("request.httpMethod = \"\(call.method)\"") }
        if call.needsKey {
            lines.append("request.setValue(\"Bearer \\(key)\", forHTTPHeaderField: \"Authorization\")")
        }
        if let body = call.body {
            lines.append("request.setValue(\"application/json\", forHTTPHeaderField: \"Content-Type\")")
            lines.append("request.httpBody = Data(#\"\"\"")
            lines.append(body)
            lines.append("\"\"\"#.utf8)")
        }
        lines.append("let (data, response) = try await URLSession.shared.data(for: request)")
        return lines.joined(separator: "\n")
    }

    /// StoreKit 2: nothing is finished before it is on disk.
    static let purchase = #"""
        func deliver(_ result: VerificationResult<Transaction>) async throws {
            var request = URLRequest(url: server.appending(path: "v1/purchases"))
            request.httpMethod = "POST"
            request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = try JSONEncoder().encode(
                ["proof": result.jwsRepresentation, "customer_id": customer]
            )
            let (_, response) = try await URLSession.shared.data(for: request)
            // 408, 429 and 5xx: the same body again later. Only a 200 is on disk.
            guard (response as? HTTPURLResponse)?.statusCode == 200 else { return }
            if case .verified(let transaction) = result { await transaction.finish() }
        }
        """#
}
