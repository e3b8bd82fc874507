import Foundation
import PurchaseModel
import Storage
import TestSupport
import Testing

/// What two servers do to each other's endpoints.
@Suite(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct PostgreSQLEndpointTests {
    /// What is told after an endpoint is known to be there is sent to it: whoever reads the feed until then has the rest.
    ///
    /// Each row: whether it is made, or enabled again; and whether the app's feed has begun.
    @Test(
        .enabled(if: !PostgreSQLServer.isPortable, "whoever waited is turned back"),
        arguments: [true, false],
        [true, false]
    )
    func whatIsToldWhileAnEndpointIsMadeIsToldBeforeOrSentToIt(isNew: Bool, hasBegun: Bool) async throws {
        try await PostgreSQLJobTests.withTwo { first, second, name in
            let count: Int64 = hasBegun ? 1 : 0
            if hasBegun { try await first.append([try OutboxSamples.event("a", 1)]) }
            var endpoint = try OutboxSamples.endpoint("e")
            if !isNew {
                endpoint.isEnabled = false
                try await first.create(endpoint)
                endpoint.isEnabled = true
                endpoint.version = 1
            }
            let (made, app) = (endpoint, try Samples.app())
            let hasTold = DispatchSemaphore(value: 0)
            async let end = PostgreSQLJobTests.after(hasTold) {
                try await second.write { transaction throws(StoreFailure) in
                    if isNew { try transaction.createEndpoint(made) } else { _ = try transaction.updateEndpoint(made) }
                }
                return try await second.read { reader throws(StoreFailure) in try reader.lastEventCursor(app: app) }
            }
            let event = try OutboxSamples.event("b", count + 1)
            try await first.write { transaction throws(StoreFailure) in
                try transaction.append([event])
                hasTold.signal()
                PostgreSQLJobTests.untilOneWaits(name)
            }
            #expect(try await end.position == count + 1)
            // And the next one is sent to it.
            try await first.append([try OutboxSamples.event("c", count + 2)])
            let claimed = try await second.claim("e", OutboxSamples.terms("w", at: 99_999_999_999_999))
            #expect(claimed.map(\.event.id) == [try OutboxSamples.eventID("c")])
        }
    }
}
