import PurchaseModel

extension RealmCode {
    /// What a row of this realm has.
    static func number(of realm: Realm) throws(StoreFailure) -> Int64 {
        guard let code = RealmCode(realm) else { throw .unstorable }
        return code.number
    }
}
