import HTTP
import Pipeline
import PurchaseModel
import Storage

/// What operators do about webhooks: by the same functions as the API's.
struct WebhookActions: Sendable {
    let parts: DashboardParts

    private var pages: EndpointPage { EndpointPage(parts: parts) }

    /// A new secret beside the others, shown once; or only the newest stays.
    func rotate(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let isNew = visit.fields["keep"].isEmpty
        let carried = try await change(visit, isNew ? "webhook_secret_made" : "webhook_secrets_ended") { endpoint, _ in
            if isNew { endpoint.addSecret() } else { endpoint.keepSecrets(1) }
            return endpoint.secrets.first?.text
        }
        var note = EndpointPage.Note()
        switch carried {
        case .refused(let refusal): note.refusal = refusal
        case .again where isNew:
            note.refusal = Refusal(
                .conflict,
                "It was done, and its answer is the only one that showed the secret. If it was lost, do it again."
            )
        case .done(let secret) where isNew: note.secret = secret
        default: return back(visit)
        }
        do throws(StoreFailure) {
            return try await pages.page(visit, visit.fields["id"], note)
        } catch {
            guard let secret = note.secret else { throw error }
            return Notices.secret(secret, visit)
        }
    }

    /// What happens while an endpoint is disabled is not kept to be sent to it: once it is enabled, its page offers that.
    func enable(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let isEnabled = visit.fields["enabled"] == "true"
        let now = visit.now
        let carried = try await change(visit, isEnabled ? "webhook_enabled" : "webhook_disabled") {
            endpoint,
            write throws(StoreFailure) in
            let (now, last) = (try write.storeTime(now), try write.lastEventCursor(app: endpoint.app))
            endpoint.setEnabled(isEnabled, at: now, after: last)
            return MissedEvents(of: endpoint) != nil
        }
        if case .refused(let refusal) = carried { return try await fault(visit, refusal) }
        parts.server.sender?.wake()
        guard case .done(true) = carried else { return back(visit) }
        var note = EndpointPage.Note()
        note.sentence = "It is enabled. What happened while it was disabled is sent only if you say so."
        return try await pages.page(visit, visit.fields["id"], note)
    }

    /// What it missed is offered no longer. A range still has it sent.
    func putMissedAside(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let carried = try await change(visit, "webhook_missed_put_aside") { endpoint, _ in endpoint.putMissedAside() }
        if case .refused(let refusal) = carried { return try await fault(visit, refusal) }
        return back(visit)
    }

    private func change<Value: Sendable>(
        _ visit: Visit,
        _ word: String,
        _ body: @escaping @Sendable (inout WebhookEndpoint, any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Carried<Value> {
        guard let version = Int64(visit.fields["version"]) else { return .refused(.incomplete) }
        return try await visit.carryOut(in: parts.store) { write throws(StoreFailure) -> Visit.Deed<Value> in
            guard var endpoint = try find(visit.fields["id"], write) else { return .failure(Self.gone) }
            guard endpoint.version == version else { return .failure(.changed) }
            let before = Self.state(endpoint)
            let value = try body(&endpoint, write)
            _ = try write.updateEndpoint(endpoint)
            let detail = "from \(before) to \(Self.state(endpoint))"
            return .success((value, visit.action(word, of: endpoint.id.text, detail)))
        }
    }

    /// What is changed here, for the audit log.
    private static func state(_ endpoint: WebhookEndpoint) -> String {
        let missed = MissedEvents(of: endpoint) == nil ? "" : ", missed events"
        return "\(endpoint.isEnabled ? "enabled" : "disabled"), secrets: \(endpoint.secrets.count)\(missed)"
    }

    /// One message that stands for nothing. The log has it before it is sent, whatever becomes of it.
    func test(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let sender = parts.server.sender else {
            return try await fault(visit, Refusal(.conflict, "This server sends no webhooks."))
        }
        let carried = try await visit.carryOut(in: parts.store) {
            write throws(StoreFailure) -> Visit.Deed<WebhookEndpoint> in
            guard let endpoint = try find(visit.fields["id"], write) else { return .failure(Self.gone) }
            return .success((endpoint, visit.action("webhook_tested", of: endpoint.id.text)))
        }
        switch carried {
        case .refused(let refusal): return try await fault(visit, refusal)
        case .again: return back(visit)
        case .done(let endpoint):
            let result: WebhookPost.Result
            do throws(WebhookSender.TestRefusal) {
                result = try await sender.sendTest(to: endpoint, id: WebhookMessageID.ofTest())
            } catch {
                return try await fault(visit, Self.refusal(error))
            }
            var note = EndpointPage.Note()
            let answer = result.status.map { "answered \($0)" } ?? "not answered: \(result.failure ?? "no reason")"
            let took = Texts.count(Int(result.duration / .milliseconds(1)))
            note.sentence = "The test message was \(answer), after \(took) ms."
            return try await pages.page(visit, endpoint.id.text, note)
        }
    }

    /// Many events again, as many at once as one write may take.
    func replay(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let asked: ReplayForm
        do throws(Refusal) { asked = try ReplayForm(visit.fields) } catch { return try await fault(visit, error) }
        let carried = try await visit.carryOut(in: parts.store) {
            write throws(StoreFailure) -> Visit.Deed<WebhookReplayStep> in
            guard let endpoint = try find(visit.fields["id"], write) else { return .failure(Self.gone) }
            let step = try asked.what.carryOut(to: endpoint, after: asked.after, at: visit.now, in: write)
            let detail = "\(asked.detail): \(step.replayed)"
            return .success((step, visit.action("webhook_replayed", of: endpoint.id.text, detail)))
        }
        switch carried {
        case .refused(let refusal): return try await fault(visit, refusal)
        case .again: return back(visit)
        case .done(let step):
            if let id = WebhookEndpointID(visit.fields["id"]) { parts.server.sender?.reopen(id) }
            var note = EndpointPage.Note()
            note.sentence = "Of \(asked.detail), \(Texts.count(step.replayed)) are on their way again."
            note.rest = step.next.map { ReplayForm(what: asked.what, after: $0) }
            return try await pages.page(visit, visit.fields["id"], note)
        }
    }

    private static func refusal(_ refusal: WebhookSender.TestRefusal) -> Refusal {
        switch refusal {
        case .underWay: Refusal(.tooManyRequests, "A test message to this endpoint is under way. Wait for its answer.")
        case .tooMany: Refusal(.serviceUnavailable, "Too many test messages are under way. Try again in a while.")
        }
    }

    private static let gone = Refusal(.notFound, "There is no such endpoint any more.")

    private func find(_ text: String, _ reader: any StoreReader) throws(StoreFailure) -> WebhookEndpoint? {
        guard let id = WebhookEndpointID(text), let endpoint = try reader.endpoint(id),
            parts.apps.contains(endpoint.app)
        else { return nil }
        return endpoint
    }

    private func fault(_ visit: Visit, _ refusal: Refusal) async throws(StoreFailure) -> HTTPResponse {
        try await pages.page(visit, visit.fields["id"], EndpointPage.Note(refusal: refusal))
    }

    private func back(_ visit: Visit) -> HTTPResponse {
        guard let id = WebhookEndpointID(visit.fields["id"]) else { return Notices.leave(for: Address("/webhooks")) }
        return Notices.leave(for: WebhookPages.address(id))
    }
}
