import Pipeline

/// The body of `POST /v1/keys`.
struct KeyRequest {
    let wish: KeyWish

    private static let members: Set<String> = ["name", "kind", "scopes", "environments", "expires_in_days"]

    /// - Parameters:
    ///   - bytes: the body.
    ///   - giver: the key that makes it: it gives no more than it has.
    /// - Throws: what is wrong with it.
    init(_ bytes: [UInt8], by giver: APIKey) throws(RequestBody.Fault) {
        let body = try RequestBody(bytes, members: Self.members)
        let name = try RequestBody.needed(body.text("name"), "name")
        let kind = try RequestBody.needed(body.text("kind"), "kind")
        let (scopes, environments) = (try body.words("scopes"), try body.words("environments"))
        let days = try body.whole("expires_in_days", KeyWish.daysRange)
        do throws(KeyWish.Fault) {
            wish = try KeyWish(
                name: name,
                kind: kind,
                scopes: scopes,
                environments: environments,
                days: days,
                by: giver
            )
        } catch {
            throw RequestBody.Fault(field: error.field, detail: error.detail)
        }
    }
}
