extension PurchaseClient {
    /// What a customer may use now, as the server says.
    ///
    /// - Parameter customer: whose, in the shop's words.
    /// - Returns: all that is in force. Ask again when the first of them ends.
    /// - Throws: why there is no answer; what to show then is the app's affair.
    public func entitlements(of customer: String) async throws(Trouble) -> [Entitlement] {
        let known = knownEntitlements[customer]
        let answer: Transport.Answer
        do {
            answer = try await transport.send(await server.entitlements(of: customer, known: known?.tag))
        } catch {
            throw .unreachable(error)
        }
        if answer.status == 304, let known { return known.rows }
        guard answer.status == 200 else { throw Ruling.failure(answer, at: surroundings.now()).0 }
        guard let rows = Entitlement.list(answer.body) else { throw .unreadableAnswer(status: 200) }
        // Of one customer only: who signs in next has nothing to do with her.
        knownEntitlements = answer.fields["etag"].map { [customer: ($0, rows)] } ?? [:]
        return rows
    }
}
