import Pipeline

/// The body of `POST /v1/keys`.
enum KeyRequest {
    private static let members: Set<String> = ["name", "kind", "scopes", "environments", "expires_in_days"]

    /// - Parameters:
    ///   - bytes: the body.
    ///   - giver: the key that makes it: it gives no more than it has.
    /// - Returns: what the key is to be; `moreThanOwn` where that is more than the giver is.
    /// - Throws: what is wrong with it.
    static func wish(_ bytes: [UInt8], by giver: APIKey) throws(RequestBody.Fault) -> Result<KeyWish, KeyDesk.Fault> {
        let body = try RequestBody(bytes, members: members)
        let name = try RequestBody.needed(body.text("name"), "name")
        let kind = try RequestBody.needed(body.text("kind"), "kind")
        let (scopes, environments) = (try body.words("scopes"), try body.words("environments"))
        let days = try body.whole("expires_in_days", KeyWish.daysRange)
        do throws(KeyWish.Fault) {
            let wish = try KeyWish(
                name: name,
                kind: kind,
                scopes: scopes,
                environments: environments,
                days: days,
                by: giver
            )
            return .success(wish)
        } catch {
            if error.isMoreThanOwn { return .failure(.moreThanOwn) }
            throw RequestBody.Fault(field: error.field, detail: error.detail)
        }
    }
}
