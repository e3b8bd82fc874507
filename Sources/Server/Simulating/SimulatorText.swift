import Encoding

/// What the simulator answers, for people.
enum SimulatorText {
    /// One customer's settings.
    static func customer(_ json: JSONObject) -> String {
        var parts = ["\(text(json, "name")): \(text(json, "environment")), \(text(json, "storefront"))"]
        if let pace = json["pace"]?.string, pace != "real" { parts.append("at the pace \(ReportText.printable(pace))") }
        if json["family"] != nil { parts.append("of family \(text(json, "family"))") }
        if json["can_pay"]?.bool == false { parts.append("cannot pay") }
        if json["asks_to_buy"]?.bool == true { parts.append("asks to buy") }
        return parts.joined(separator: ", ") + "\n"
    }

    /// With everything that she bought.
    static func wholeCustomer(_ json: JSONObject) -> String {
        var lines = customer(json)
        for line in objects(json, "subscriptions") { lines += "  subscription \(subscription(line))\n" }
        for sold in objects(json, "transactions") { lines += "  transaction  \(transaction(sold))\n" }
        return lines
    }

    /// All customers, with the states of their subscriptions.
    static func customers(_ json: JSONObject, _ subscriptions: JSONObject?) -> String {
        let lines = subscriptions.map { objects($0, "subscriptions") } ?? []
        let byCustomer = Dictionary(grouping: lines) { $0["customer"]?.string ?? "" }
        let all = objects(json, "customers")
        guard !all.isEmpty else { return "no customers\n" }
        return all.map { each in
            customer(each)
                + (byCustomer[each["name"]?.string ?? ""] ?? []).map { "  subscription \(subscription($0))\n" }.joined()
        }.joined()
    }

    /// What came of an act.
    static func outcome(_ json: JSONObject) -> String {
        let outcome = json["outcome"]?.string ?? ""
        if let token = json["test_notification_token"]?.string {
            return "done, test notification \(ReportText.printable(token))\n"
        }
        if outcome == "waits" { return "waits for a parent\n" }
        return "\(ReportText.printable(outcome))\n"
            + objects(json, "transactions").map { "  transaction  \(transaction($0))\n" }.joined()
    }

    /// What became of one subscription when it was to renew.
    static func renewal(_ json: JSONObject, of original: String) -> String {
        guard
            let line = objects(json, "subscriptions").first(where: { $0["original_transaction_id"]?.string == original }
            )
        else { return "gone\n" }
        let newest = objects(json, "transactions").last { $0["original_transaction_id"]?.string == original }
        return "  subscription \(subscription(line))\n"
            + (newest.map { "  transaction  \(transaction($0))\n" } ?? "")
    }

    static func clock(_ json: JSONObject) -> String {
        let pace = json["pace"]?.int64 ?? 0
        let pacing = pace == 0 ? "stands still" : pace == 1 ? "runs as ours" : "\(pace) seconds in each of ours"
        return "time         \(text(json, "now")), \(pacing)\n"
            + "next event   \(json["next_event_at"] == nil ? "none" : text(json, "next_event_at"))\n"
    }

    static func story(_ json: JSONObject) -> String {
        let differences = json["differences"]?.array.map(Array.init) ?? []
        let verdict = differences.isEmpty ? "as told" : "otherwise than told"
        return "\(text(json, "name")): \(verdict), \(json["notices"]?.int64 ?? 0) notices\n"
            + differences.map { "  differs      \(ReportText.printable($0.string ?? ""))\n" }.joined()
    }

    /// What happens on purpose; what does not is left out.
    static func chaos(_ json: JSONObject) -> String {
        let settings: Set = ["seed", "late_seconds", "time_out_ms", "slow_from_ms", "slow_to_ms"]
        let set = json.members.compactMap { name, value in value.int64.map { (name, $0) } }
        guard set.contains(where: { !settings.contains($0.0) && $0.1 != 0 }) else { return "no chaos\n" }
        let rows = set.filter { settings.contains($0.0) || $0.1 != 0 }
        return CommandShape.columns(rows.map { (ReportText.printable($0.0), String($0.1)) }) + "\n"
    }

    // MARK: Parts

    private static func subscription(_ json: JSONObject) -> String {
        var parts = ["\(text(json, "original_transaction_id")) \(text(json, "status"))"]
        let renews = json["will_auto_renew"]?.bool == true
        if let status = json["status"]?.string, status != "expired", status != "revoked" {
            let next = renews ? "renews as \(text(json, "next_product"))" : "does not renew"
            parts.append(next)
        }
        if json["expires_at"] != nil { parts.append("expires \(text(json, "expires_at"))") }
        if json["grace_ends_at"] != nil { parts.append("grace until \(text(json, "grace_ends_at"))") }
        if json["shared_from"] != nil { parts.append("shared by the family") }
        return parts.joined(separator: ", ")
    }

    private static func transaction(_ json: JSONObject) -> String {
        var parts = ["\(text(json, "transaction_id")) \(text(json, "product"))"]
        if let quantity = json["quantity"]?.int64, quantity != 1 { parts.append("x\(quantity)") }
        if let price = json["price"]?.int64 { parts.append("\(amount(price)) \(text(json, "currency"))") }
        if json["reason"]?.string == "RENEWAL" { parts.append("renewal") }
        parts.append("bought \(text(json, "purchased_at"))")
        if json["expires_at"] != nil { parts.append("expires \(text(json, "expires_at"))") }
        if let revocation = json["revocation"]?.object { parts.append("REVOKED \(text(revocation, "at"))") }
        if json["upgraded"]?.bool == true { parts.append("upgraded") }
        return parts.joined(separator: ", ")
    }

    /// Thousandths as a decimal of two places, or of three where it needs them.
    private static func amount(_ milliunits: Int64) -> String {
        let thousandths = String(milliunits.magnitude % 1_000 + 1_000).dropFirst()
        let digits = thousandths.hasSuffix("0") ? thousandths.dropLast() : thousandths
        return "\(milliunits < 0 ? "-" : "")\(milliunits.magnitude / 1_000).\(digits)"
    }

    private static func objects(_ json: JSONObject, _ name: String) -> [JSONObject] {
        json[name]?.array.map(Array.init)?.compactMap(\.object) ?? []
    }

    private static func text(_ json: JSONObject, _ name: String) -> String {
        ReportText.printable(json[name]?.string ?? "-")
    }
}
