import AppStore
import Crypto
import Dashboard
import Encoding
import FoundationEssentials
import HTTP
import PurchaseModel
import Simulator

/// `assay demo`: Assay and the simulated App Store, one beside the other, with everything in one folder.
///
/// The simulator sells the app of its catalogue; its roots stand in Assay's configuration, so what it signs is recorded as
/// test-signed. A receipt that Apple signed gets its honest verdict beside it.
struct Demo {
    enum Fault: Error, CustomStringConvertible {
        case cannotWrite(String)

        var description: String {
            switch self {
            case .cannotWrite(let path): "\(path) cannot be written"
            }
        }
    }

    /// What is no subscription of Apple's ends when the shop says so.
    private static let seasonDays: Int64 = 90

    let folder: String
    /// Where the simulator listens.
    let simulator: ListenAddress
    /// The folder of the running program, when it was not found on the search path.
    var programFolder: String?

    var configurationPath: String { "\(folder)/assay.json" }
    var keyPath: String { "\(folder)/key" }
    private var secretPath: String { "\(folder)/shared-secret" }
    private var simulatorPath: String { "\(folder)/simulator" }

    init(_ arguments: Arguments, program: String) throws(UsageFault) {
        folder = arguments.value("data") ?? "data"
        guard let address = ListenAddress(arguments.value("simulator") ?? "127.0.0.1:8081") else {
            throw UsageFault("--simulator is an address and a port")
        }
        simulator = address
        if program.contains("/") { programFolder = URL(filePath: program).deletingLastPathComponent().path }
    }

    /// Makes what is not there yet; a second start finds everything and changes nothing.
    func prepare(at now: Timestamp) throws {
        let kept = SimulatorFolder(simulatorPath)
        _ = try kept.authority()
        let merchant = try kept.merchantKey()
        if !FileManager.default.fileExists(atPath: keyPath) {
            try write(Array(Hexadecimal.encode(SecureRandom.bytes(24)).utf8), keyPath, isSecret: true)
        }
        if !FileManager.default.fileExists(atPath: secretPath) {
            try write(Array(DemoCatalogue.sharedSecret.utf8), secretPath, isSecret: true)
        }
        guard !FileManager.default.fileExists(atPath: configurationPath) else { return }
        try write(configuration(kept, merchant), configurationPath)
    }

    private func configuration(_ kept: SimulatorFolder, _ merchant: MerchantKey) -> [UInt8] {
        JSONWriter.object { json in
            json.member("profile", Configuration.Profile.development.rawValue)
            json.member("data", "\(folder)/ledger")
            json.array("apps") { json in
                json.object { json in
                    json.member("id", "demo")
                    json.member("bundle_id", DemoCatalogue.bundleID.text)
                    json.member("apple_id", DemoCatalogue.appleID)
                    json.array("environments") { json in
                        json.element("production")
                        json.element("sandbox")
                    }
                    json.member("accept_test_signed", true)
                    // Nobody pays here: what the sandbox sells is delivered, too.
                    json.object("sandbox") { $0.member("everybody_until", "9999-12-31T23:59:59Z") }
                    json.object("app_store") { writeStore(merchant, into: &$0) }
                    json.array("products") { json in
                        for product in DemoCatalogue.app().products.values.sorted(by: { $0.id < $1.id }) {
                            json.object { Self.write(product, into: &$0) }
                        }
                    }
                }
            }
            // A receiver on this machine is as good as a shop here.
            json.object("webhooks") { json in
                json.member("allowed_addresses", "127.0.0.0/8,::1/128")
                json.member("plain_hosts", "localhost,[::1]")
            }
            json.array("keys") { json in
                json.object { json in
                    json.member("name", "demo")
                    json.member("app", "demo")
                    json.member("secret_file", keyPath)
                }
            }
            json.object("trust") { json in
                json.member("roots", kept.roots)
                json.member("certificates", kept.certificates)
            }
        }
    }

    /// What it gives is told by its name: `coins.100` a hundred coins, `pro.monthly` the entitlement `pro`.
    private static func write(_ product: StoreProduct, into json: inout JSONObjectWriter) {
        let name = product.id.text.dropFirst(DemoCatalogue.bundleID.text.count + 1).split(separator: ".").map(
            String.init
        )
        json.member("id", product.id.text)
        json.member("kind", product.kind.rawValue)
        json.array("goods") { json in
            json.object { json in
                if product.kind == .consumable {
                    json.member("currency", name.first)
                    json.member("amount", name.last.flatMap { Int64($0) })
                } else {
                    json.member("entitlement", name.first)
                }
            }
        }
        if product.kind == .nonRenewing { json.member("period_days", Self.seasonDays) }
        if product.isFamilyShareable { json.member("family_shared", true) }
    }

    /// Apple is the simulator here.
    private func writeStore(_ merchant: MerchantKey, into json: inout JSONObjectWriter) {
        json.member("shared_secret_file", secretPath)
        json.member("issuer_id", merchant.issuerID)
        json.member("key_id", merchant.id)
        json.member("private_key_file", merchant.path)
        // Which port is free is only known later.
        guard simulator.port != 0 else { return }
        let hosts = AppStoreHosts.simulator(at: "http://\(simulator)")
        json.object("hosts") { json in
            json.member("api", hosts.serverAPIProduction)
            json.member("api_sandbox", hosts.serverAPISandbox)
            json.member("verify_receipt", hosts.verifyReceiptProduction)
            json.member("verify_receipt_sandbox", hosts.verifyReceiptSandbox)
        }
    }

    private func write(_ bytes: [UInt8], _ path: String, isSecret: Bool = false) throws(Fault) {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: isSecret ? 0o600 : 0o644]
        guard FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: attributes) else {
            throw .cannotWrite(path)
        }
    }

    /// Serves both until SIGTERM or SIGINT.
    ///
    /// - Parameters:
    ///   - settings: of Assay.
    ///   - now: when the store's time begins. It also decides the store's numbers: the ledger remembers those of before.
    /// - Returns: the exit code.
    /// - Throws: ``Simulate/Fault`` when the simulator cannot start.
    func run(_ settings: ServeSettings, at now: Timestamp) async throws -> Int32 {
        var options = Simulate.Options()
        options.folder = simulatorPath
        (options.address, options.port) = (simulator.address, simulator.port)
        options.seed = UInt64(clamping: now.milliseconds)
        options.start = now
        let simulate = Simulate(options: options)
        return try await withThrowingTaskGroup(of: Int32.self) { group in
            let (opened, opening) = AsyncStream.makeStream(of: UInt16.self)
            group.addTask {
                defer { opening.finish() }
                return try await simulate.run { port, _ in opening.yield(port) }
            }
            // It ends without a port when the simulator could not start: then its failure says why.
            guard let storePort = await opened.first(where: { _ in true }) else { return try await group.next() ?? 1 }
            let store = "http://\(ListenAddress(address: simulator.address, port: storePort))"
            let (listening, heard) = AsyncStream.makeStream(of: (ListenAddress, String).self)
            group.addTask {
                guard let (assay, dashboard) = await listening.first(where: { _ in true }) else { return 0 }
                try await Self.notify(assay, of: store)
                Console.greet(greeting(assay, store, dashboard: dashboard))
                return 0
            }
            var serving = settings
            for app in serving.appStores.keys { serving.appStores[app]?.hosts = .simulator(at: store) }
            let code = await Serve(settings: serving, simulator: Self.line(to: store)).run { port, dashboard in
                heard.yield((ListenAddress(address: settings.address, port: port), dashboard))
            }
            heard.finish()
            group.cancelAll()
            return code
        }
    }

    /// The store's control API, for the dashboard.
    private static func line(to store: String) -> SimulatorLine {
        let caller = CurlCaller(CallerSettings()).caller
        return SimulatorLine { method, path, body in
            var call = HTTPCall(method: method, url: "\(store)/simulator/v1\(path)", body: body)
            if !body.isEmpty { call.fields["Content-Type"] = "application/json" }
            return try? await caller.send(call)
        }
    }

    /// Has the store tell Assay what happens, as Apple would.
    private static func notify(_ assay: ListenAddress, of store: String) async throws {
        let client = APIClient(.simulator, at: store, caller: CurlCaller(CallerSettings()).caller)
        let body = JSONWriter.object { $0.member("url", "http://\(assay)/v1/apple/notifications/demo") }
        _ = try await client.ask(.put, "/apps/\(DemoCatalogue.bundleID)/notifications", body)
    }

    /// What to try, in commands that can be pasted.
    private func greeting(_ assay: ListenAddress, _ store: String, dashboard: String) -> String {
        let at = store == APIClient.Side.simulator.usualBase ? "" : " --at \(store)"
        let path = programFolder.map { "  export PATH=\"\($0):$PATH\"\n" } ?? ""
        return """

            Assay serves on http://\(assay), with its ledger in \(folder)/ledger.
            Beside it an App Store of your own is open on \(store). In another terminal, in this folder:

            \(path)  assay simulate buy anna pro.monthly\(at)
              curl -s -H "Authorization: Bearer $(cat \(keyPath))" -H "Content-Type: application/json" \\
                   --data '{"proof": "'$(assay simulate proof anna\(at))'", "customer_id": "anna"}' http://\(assay)/v1/purchases

            Send it again: it is recorded once. Then let a month pass, or take the money back. The store tells Assay of it:

              assay simulate clock advance P31D\(at)
              assay simulate refund anna\(at)

            See what the customer has, and what was counted:

              curl -s -H "Authorization: Bearer $(cat \(keyPath))" http://\(assay)/v1/customers/anna/transactions
              curl -s http://\(assay)/metrics

            Or make yourself an account, and search for anna, in a browser:
            http://\(assay)\(dashboard)

            Ctrl-C stops both; the store forgets everything then, and the ledger nothing.

            """
    }
}
