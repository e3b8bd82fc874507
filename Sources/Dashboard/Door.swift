package import HTTP
import PurchaseModel
package import Storage

/// A route of the dashboard, and who may take it.
package struct DashboardRoute: Sendable {
    package let route: Route
    /// The least role; `nil` for what is open to everybody.
    package let role: AdminRole?
}

/// Lets in who is signed in and may do what is asked; a form only with the token of the browser that it was made for.
struct Door: Sendable {
    let sessions: Sessions
    let clock: any WallClock
    /// Whether there is a page of the simulator.
    let isDemo: Bool

    typealias Respond = @Sendable (Visit) async throws(StoreFailure) -> HTTPResponse

    /// A page to look at. Who is not signed in is sent to do so, and back.
    func page(_ path: StaticString, _ role: AdminRole, _ respond: @escaping Respond) -> DashboardRoute {
        let route = Route(.get, Self.template(path)) { request, _ in
            guard let fields = FormFields((request.query ?? "").utf8) else { return Notices.malformed() }
            do throws(StoreFailure) {
                guard let found = try await sessions.find(request.fields) else {
                    let next = request.path + (request.query.map { "?" + $0 } ?? "")
                    return Notices.leave(for: Address("/sign-in", [(name: "next", value: next)]))
                }
                return try await answer(request, fields, found, role, respond)
            } catch {
                return Notices.store(error)
            }
        }
        return DashboardRoute(route: route, role: role)
    }

    /// A form that changes something.
    func form(_ path: StaticString, _ role: AdminRole, _ respond: @escaping Respond) -> DashboardRoute {
        let route = Route(.post, Self.template(path)) { request, _ in
            guard let fields = SentForm.fields(of: request) else { return Notices.malformed() }
            do throws(StoreFailure) {
                guard let found = try await sessions.find(request.fields) else {
                    return Notices.leave(for: Address("/sign-in"))
                }
                guard SentForm.isOurs(request.fields),
                    found.token.vouches(for: fields[Form.tokenField.description])
                else { return Notices.strangeForm() }
                return try await answer(request, fields, found, role, respond)
            } catch {
                return Notices.store(error)
            }
        }
        return DashboardRoute(route: route, role: role)
    }

    /// What is open to everybody.
    func open(
        _ method: HTTPMethod,
        _ path: StaticString,
        _ respond: @escaping @Sendable (HTTPRequest) async throws(StoreFailure) -> HTTPResponse
    ) -> DashboardRoute {
        let route = Route(method, Self.template(path)) { request, _ in
            do throws(StoreFailure) {
                return try await respond(request)
            } catch {
                return Notices.store(error)
            }
        }
        return DashboardRoute(route: route, role: nil)
    }

    private func answer(
        _ request: HTTPRequest,
        _ fields: FormFields,
        _ found: Sessions.SignedIn,
        _ role: AdminRole,
        _ respond: Respond
    ) async throws(StoreFailure) -> HTTPResponse {
        let visit = Visit(
            account: found.account,
            token: found.token,
            request: request,
            fields: fields,
            now: clock.now,
            isDemo: isDemo
        )
        guard role <= found.account.role else { return Notices.forbidden(visit) }
        return try await respond(visit)
    }

    private static func template(_ path: StaticString) -> String { Address.root.description + path.description }
}
