import PurchaseModel

/// Where the things of an app are shown.
enum Links {
    static func transaction(_ app: AppID, _ id: TransactionID) -> Address {
        Address("/transaction", [(name: "app", value: app.text), (name: "id", value: id.description)])
    }

    static func customer(_ app: AppID, _ id: CustomerID) -> Address {
        Address("/customer", [(name: "app", value: app.text), (name: "id", value: id.text)])
    }

    static func order(_ app: AppID, _ id: OrderID) -> Address {
        Address("/order", [(name: "app", value: app.text), (name: "id", value: id.text)])
    }

    static func submission(_ id: String) -> Address { Address("/submission", [(name: "id", value: id)]) }

    static func link(_ address: Address, _ text: String) -> HTML {
        element("a", .href(address)) { element("bdi") { text } }
    }
}
