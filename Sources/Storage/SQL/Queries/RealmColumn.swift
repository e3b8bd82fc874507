import PurchaseModel

extension RealmCode {
    /// What a row of this realm has.
    static func number(of realm: Realm) throws(StoreFailure) -> Int64 {
        guard let code = RealmCode(realm) else { throw .unstorable }
        return code.number
    }

    /// Many for a list with a place for each.
    static func list(of realms: Set<Realm>) -> [SQLValue] {
        ValueList.filled(realms.compactMap { RealmCode($0)?.number }.map(SQLValue.integer), count)
    }

    /// Many in one number: bit n stands for the realm of code n.
    static func mask(of realms: Set<Realm>) -> Int64 {
        realms.compactMap { RealmCode($0)?.number }.reduce(0) { $0 | 1 << $1 }
    }
}
