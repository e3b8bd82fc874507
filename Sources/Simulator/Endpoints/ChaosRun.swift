package import HTTP
import PurchaseModel
import Synchronization

/// A chaos that is under way: it falls upon Apple's endpoints, so that some requests never reach them and some answers
/// never leave whole, and upon notifications.
package final class ChaosRun: Sendable {
    private let state = Mutex((chaos: Chaos.none, requests: UInt64(0)))
    private let simulator: AppStoreSimulator
    private let pause: @Sendable (Duration) async -> Void

    /// - Parameters:
    ///   - simulator: whose clock can be made wrong.
    ///   - pause: waits in real time, for answers that come late.
    package init(_ simulator: AppStoreSimulator, pause: @escaping @Sendable (Duration) async -> Void) {
        self.simulator = simulator
        self.pause = pause
    }

    package var chaos: Chaos { state.withLock { $0.chaos } }

    /// Starts the story of this chaos from its beginning.
    package func set(_ chaos: Chaos) {
        state.withLock { $0 = (chaos, 0) }
        simulator.setClockSkew(.seconds(chaos.clockSkewSeconds))
    }

    /// What happens to one attempt to deliver a notification; only the first can be lost or late by chaos.
    package func disturbance(of message: NoticeMessage, attempt: Int) -> Disturbance {
        var disturbance = Disturbance.none
        guard attempt == 1 else { return disturbance }
        switch chaos.fate(ofNotice: UInt64(message.number)) {
        case .delivered: break
        case .lost: disturbance.loss = .message
        case .twice: disturbance.copies = 2
        case .reordered: disturbance.rank = 1
        case .late(let seconds): disturbance.delay = .seconds(seconds)
        }
        return disturbance
    }

    /// The same endpoints, as badly as chaos wants them.
    package func disturbing(_ handler: HTTPHandler) -> HTTPHandler {
        HTTPHandler { request in
            var response = await self.respond(to: request, handler)
            // Whoever is told that his token is of another time can see by how much.
            if response != .hangUp, self.chaos.clockSkewSeconds != 0 {
                response.fields["Date"] = AppleDateText.internet(self.simulator.wallTime)
            }
            return response
        }
    }

    private func respond(to request: HTTPRequest, _ handler: HTTPHandler) async -> HTTPResponse {
        let fate = state.withLock { state -> Chaos.Fate in
            state.requests += 1
            return state.chaos.fate(ofRequest: state.requests)
        }
        switch fate {
        case .answered:
            return await handler.respond(request)
        case .slow(let milliseconds):
            await pause(.milliseconds(milliseconds))
            return await handler.respond(request)
        case .timeOut(let milliseconds):
            await pause(.milliseconds(milliseconds))
            return .hangUp
        case .reset:
            return .hangUp
        case .serverError(let status, let isPage):
            return serverError(HTTPStatus(rawValue: status), isPage: isPage)
        case .tooManyRequests:
            return tooManyRequests()
        case .html:
            return HTTPResponse(.ok, fields: ["Content-Type": "text/html"], body: ChaosRun.page)
        case .truncated:
            var response = await handler.respond(request)
            response.body.removeLast(response.body.count / 2)
            return response
        case .unauthorized:
            return HTTPResponse(.unauthorized)
        case .temporaryStatus(let status):
            guard request.path.utf8.reversed().starts(with: "verifyReceipt".utf8.reversed()) else {
                return serverError(.internalServerError, isPage: false)
            }
            let body = Array(#"{"status":\#(status)}"#.utf8)
            return HTTPResponse(.ok, fields: ["Content-Type": "application/json"], body: body)
        }
    }

    private func serverError(_ status: HTTPStatus, isPage: Bool) -> HTTPResponse {
        if isPage { return HTTPResponse(status, fields: ["Content-Type": "text/html"], body: ChaosRun.page) }
        let body = #"{"errorCode":5000001,"errorMessage":"An unknown error occurred. Please try again."}"#
        return HTTPResponse(status, fields: ["Content-Type": "application/json"], body: Array(body.utf8))
    }

    /// `Retry-After` is a moment in UNIX milliseconds, as only Apple writes it.
    private func tooManyRequests() -> HTTPResponse {
        let body = #"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#
        let retryAt = simulator.wallTime.advanced(by: .seconds(2)).milliseconds
        return HTTPResponse(
            .tooManyRequests,
            fields: ["Content-Type": "application/json", "Retry-After": String(retryAt)],
            body: Array(body.utf8)
        )
    }

    private static let page = Array(
        """
        <!DOCTYPE html><html><head><title>Service Unavailable</title></head>
        <body><h1>Service Unavailable</h1><p>The service is temporarily unavailable.</p></body></html>
        """.utf8
    )
}
