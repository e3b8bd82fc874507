import HTTP
import Pipeline
import PurchaseModel
import Storage

/// A request of somebody who is signed in and may make it.
struct Visit: Sendable {
    let account: AdminAccount
    let token: Token
    let request: HTTPRequest
    let fields: FormFields
    let now: Timestamp
    /// Whether there is a page of the simulator.
    let isDemo: Bool

    /// A form that changes something: with what shows that it came from a page of ours.
    func form(_ address: Address, label: String, @HTMLBuilder content: () -> HTML) -> HTML {
        Form.post(address, token, label: label, content: content)
    }

    func may(_ role: AdminRole) -> Bool { role <= account.role }

    /// Who acts, where keys act otherwise: no key has such a name.
    var actor: String {
        // A comma would end it where keys are listed.
        KeyWish.dashboardPrefix + String(account.name.text.prefix(64).map { $0 == "," ? "." : $0 })
    }

    func action(_ word: String, of subject: String? = nil, _ detail: String? = nil) -> AdminAction {
        AdminAction(
            at: now,
            admin: account.name,
            remote: request.remote.description,
            action: word,
            subject: subject,
            detail: detail
        )
    }
}
