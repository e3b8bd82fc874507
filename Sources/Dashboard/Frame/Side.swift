import PurchaseModel

/// Sides of the wall, as addresses name them: `production`, `sandbox.test`.
enum Side {
    static func name(_ realm: Realm) -> String {
        realm.environment.rawValue + (realm.isTestSigned ? ".test" : "")
    }

    static func realm(_ name: String) -> Realm? { Realm.known.first { self.name($0) == name } }
}
