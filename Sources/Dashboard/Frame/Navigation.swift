import Storage

/// The pages that every page leads to.
enum Navigation {
    struct Entry {
        let name: String
        let address: Address
        let role: AdminRole
    }

    /// Those that somebody may take.
    static func entries(for visit: Visit) -> [Entry] {
        entries.filter { $0.role <= visit.account.role } + (visit.isDemo ? [simulator] : [])
    }

    private static let simulator = Entry(name: "Simulator", address: Address("/simulator"), role: .viewer)

    private static let entries = [
        Entry(name: "Overview", address: Address(""), role: .viewer),
        Entry(name: "Revenue", address: Address("/revenue"), role: .viewer),
        Entry(name: "Subscriptions", address: Address("/subscriptions"), role: .viewer),
        Entry(name: "Orders", address: Address("/orders"), role: .viewer),
        Entry(name: "Triage", address: Address("/triage"), role: .viewer),
        Entry(name: "Notifications", address: Address("/notifications"), role: .viewer),
        Entry(name: "Webhooks", address: Address("/webhooks"), role: .viewer),
        Entry(name: "Catalogue", address: Address("/catalogue"), role: .viewer),
        Entry(name: "Apps", address: Address("/apps"), role: .viewer),
        Entry(name: "Keys", address: Address("/keys"), role: .viewer),
        Entry(name: "Operations", address: Address("/operations"), role: .viewer),
        Entry(name: "Accounts", address: Address("/accounts"), role: .admin),
        Entry(name: "Audit log", address: Address("/audit"), role: .admin),
    ]
}
