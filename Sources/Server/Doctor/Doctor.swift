import AppStore
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Verification

/// `assay doctor`: one check after another, each of which names what it found.
struct Doctor {
    /// Longer than Apple's own wait between two attempts would be of no use.
    private static let waitRange = 0...600
    private static let usualWait = 30

    private let arguments: Arguments
    private let environment: [String: String]
    private let wait: Int
    private let clock = SystemClock()

    init(_ arguments: Arguments, _ environment: [String: String]) throws(UsageFault) {
        self.arguments = arguments
        self.environment = environment
        let text = arguments.value("wait") ?? "\(Self.usualWait)"
        guard let wait = Int(text), Self.waitRange.contains(wait) else {
            throw UsageFault("--wait is a number of seconds, at most \(Self.waitRange.upperBound)")
        }
        self.wait = wait
    }

    /// - Returns: 0 when all is good, 1 when anything is not; whoever ends the program says what could not be written.
    func run() async -> Int32 {
        let findings = await findings()
        let isJSON = arguments.isSet("json")
        let text =
            isJSON ? FindingText.json(findings) + [0x0A] : Array(FindingText.text(findings, Paint(environment)).utf8)
        Console.write(text)
        return FindingText.isGood(findings) ? 0 : 1
    }

    private func findings() async -> [Finding] {
        let reading = CheckFiles.Reading()
        let configuration: Configuration
        do throws(ConfigurationFaults) {
            configuration = try ProductionProfile.configuration(
                environment: environment,
                flags: arguments.flags,
                files: reading.files(.disk)
            )
        } catch {
            // What the rest would be asked about is not known.
            return error.all.map { fault in
                .fail("configuration", fault.description, fix: "mend it; \"assay config check\" says when it is good")
            } + CheckFiles.findings(reading.seen, data: nil).filter { $0.status != .ok }
        }
        var findings = [
            Finding.ok("configuration", "apps: \(configuration.apps.count), keys: \(configuration.keys.count)")
        ]
        findings += CheckAPIKeys.findings(configuration)
        let place = LedgerPlace(configuration)
        let isFolder = if case .folder = place { true } else { false }
        findings += CheckFiles.findings(reading.seen, data: isFolder ? configuration.data : nil)
        findings += await ledger(at: place, configuration, isFolder: isFolder)
        return findings
    }

    private func ledger(
        at place: LedgerPlace,
        _ configuration: Configuration,
        isFolder: Bool
    ) async -> [Finding] {
        let state = CheckLedgerState(
            place: place,
            configuration: arguments.value("config") ?? environment["ASSAY_CONFIG"],
            machine: .this,
            now: clock.now
        )
        let (ledger, opening) = await state.open()
        var findings = opening
        if let ledger { findings += await state.look(into: ledger) }
        if isFolder { findings += CheckDisk.findings(folder: configuration.data) }
        if let folder = arguments.value("backups") { findings.append(state.copies(in: folder)) }
        let seen = try? await ledger?.read { reader throws(StoreFailure) in try reader.certificates() }
        do throws(CertificateFolder.Fault) {
            let anchors = try CertificateFolder.anchors(
                roots: configuration.trust.roots,
                certificates: configuration.trust.certificates
            )
            findings += CheckTrust.findings(anchors.sightings, seen: seen ?? [], at: clock.now)
            if let ledger { findings += await Self.apps(of: ledger, configuration, place, anchors) }
            findings += await calls(configuration, anchors, ledger)
        } catch {
            findings.append(.fail("trust", "\(error)", fix: "put certificates there, in DER or PEM, and nothing else"))
        }
        await ledger?.close()
        return findings
    }

    /// Whether the ledger keeps purchases under another id than the configuration's, which no server serves.
    private static func apps(
        of ledger: OpenedLedger,
        _ configuration: Configuration,
        _ place: LedgerPlace,
        _ anchors: TrustAnchors
    ) async -> [Finding] {
        let earlier = EarlierLedger(
            settings: ServeSettings(configuration),
            place: place,
            verifier: Verifier(anchors: anchors)
        )
        let sold = try? await ledger.read { reader throws(StoreFailure) in try earlier.sold(reader) }
        do throws(EarlierLedger.Fault) {
            return try earlier.left(of: sold ?? []).map { app in
                let found = "it has purchases of the app \(app), which is not configured"
                return .warn("ledger", found, fix: "configure it, to follow them")
            }
        } catch {
            return [.fail("ledger", error.sentence, fix: "give the app its id back")]
        }
    }

    // MARK: What others are called for

    private func calls(
        _ configuration: Configuration,
        _ anchors: TrustAnchors,
        _ ledger: OpenedLedger?
    ) async -> [Finding] {
        let (keys, usable) = CheckKeys.findings(configuration.apps)
        guard !arguments.isSet("offline") else { return keys }
        let settings = ServeSettings(configuration)
        let plain = CurlCaller(CallerSettings()).caller
        let server = CheckServer(
            listen: configuration.listen,
            connections: configuration.limits.connections,
            caller: plain
        )
        var findings = await server.findings() + keys
        findings += await apple(configuration, settings, usable, anchors, ledger)
        if let ledger {
            let outward = CurlCaller(.outward(settings.egress, connectionsMax: 1)).caller
            let receivers = CheckReceivers(apps: settings.apps.map(\.id), rule: settings.egress, caller: outward)
            findings += await receivers.findings(ledger)
        }
        return findings
    }

    private func apple(
        _ configuration: Configuration,
        _ settings: ServeSettings,
        _ usable: [AppID],
        _ anchors: TrustAnchors,
        _ ledger: OpenedLedger?
    ) async -> [Finding] {
        let watched = WatchedCaller(AppleSide.caller(through: settings.appleProxy), clock: self.clock)
        let check = CheckApple(caller: watched.caller)
        let hosts = await check.hosts(CheckApple.urls(configuration.apps))
        let clock = CheckClock.findings(watched.seen)
        var findings = hosts + clock
        var settings = settings
        settings.apps.removeAll { !usable.contains($0.id) }
        let line = AppleLine(caller: watched.caller, clock: self.clock)
        let verifier = Verifier(anchors: anchors)
        guard let accounts = try? AppleSide.accounts(settings, verifier, over: line) else { return findings }
        let isClockWrong = clock.contains { $0.status == .fail }
        for app in configuration.apps {
            guard let account = accounts[app.id] else { continue }
            findings += await self.app(app, account.server, check, ledger, isClockWrong)
        }
        return findings
    }

    private func app(
        _ app: Configuration.App,
        _ server: AppStoreServerClient,
        _ check: CheckApple,
        _ ledger: OpenedLedger?,
        _ isClockWrong: Bool
    ) async -> [Finding] {
        let words = await check.words(server, CheckApple.stores(app))
        let accepted = words.filter { $0.word == .accepted }.map(\.store)
        var findings = words.compactMap { store, word in
            CheckApple.finding(
                app,
                store,
                word,
                isOtherAccepted: accepted.contains { $0 != store },
                isClockWrong: isClockWrong
            )
        }
        guard wait > 0 else { return findings }
        let notifications = CheckNotifications(ledger: ledger, wait: wait) {
            (try? await Task.sleep(for: .seconds(1))) != nil
        }
        for store in accepted { findings.append(await notifications.finding(app, store, server)) }
        return findings
    }
}
