import Encoding
import HTTP
import PurchaseModel
import Simulator
import Testing
import TestSupport

/// The OpenAPI document says what the control API is, no more and no less.
struct ControlDescriptionTests {
    let routes: [Route]

    init() throws {
        var store = SimulatedStore(startingAt: StoreLife.start, seed: 1)
        store.set(DemoCatalogue.app())
        let clock = ManualClock(StoreLife.start)
        let simulator = AppStoreSimulator(store, authority: TestAuthority.shared, wallClock: clock)
        let chaos = ChaosRun(simulator) { _ in }
        routes =
            ControlAPI(simulator).routes() + (try ProofEndpoints(simulator).routes())
            + SettingEndpoints(simulator, chaos: chaos, sent: .none).routes()
    }

    private func document() async throws -> JSONObject {
        let request = HTTPRequest(method: .get, path: "/simulator/v1/openapi.json")
        let response = await Router(routes).respond(to: request)
        #expect(response.status == .ok && response.fields["Content-Type"] == "application/json")
        return try #require(JSONDocument(response.body).root.object)
    }

    @Test func itHasEveryRouteAndNoOther() async throws {
        let document = try await document()
        #expect(document["openapi"]?.string == "3.1.0")
        var described: Set<String> = []
        for (path, operations) in try #require(document["paths"]?.object).members {
            for (method, _) in try #require(operations.object).members {
                described.insert("\(method.uppercased()) \(path)")
            }
        }
        #expect(described == Set(routes.map { "\($0.method) \($0.template)" }))
    }

    @Test func everyOperationNamesItsParametersAndAnswers() async throws {
        var names: Set<String> = []
        let paths = try #require(try await document()["paths"]?.object)
        for (path, operations) in paths.members {
            for (_, operation) in try #require(operations.object).members {
                let operation = try #require(operation.object)
                let name = try #require(operation["operationId"]?.string)
                #expect(names.insert(name).inserted, "\(name) is there twice")
                #expect(operation["summary"]?.string?.hasSuffix(".") == true, "\(name)")
                #expect(operation["responses"]?.object?.members.contains { $0.key.hasPrefix("2") } == true, "\(name)")
                let inPath = (operation["parameters"]?.array.map(Array.init) ?? []).compactMap(\.object)
                    .filter { $0["in"]?.string == "path" }.compactMap { $0["name"]?.string }
                #expect(inPath == path.matches(of: /\{(\w+)\}/).map { String($0.1) }, "\(name)")
            }
        }
    }

    @Test func whatItRefersToIsThere() async throws {
        let document = try await document()
        let text = String(decoding: document.value.raw, as: UTF8.self)
        let referred = Set(text.matches(of: /"#\/components\/(\w+)\/(\w+)"/).map { [String($0.1), String($0.2)] })
        #expect(!referred.isEmpty)
        for place in referred {
            #expect(document["components"]?.object?[place[0]]?.object?[place[1]] != nil, "\(place)")
        }
    }
}
