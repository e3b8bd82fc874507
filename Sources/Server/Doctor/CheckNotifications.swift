import AppStore
import HTTP
import PurchaseModel
import Storage
import Verification

/// Whether Apple's notifications arrive: has Apple send one, and looks for it in the ledger.
struct CheckNotifications {
    let ledger: OpenedLedger?
    let wait: Int
    /// A second goes by; false when nobody is to wait any more.
    let pause: @Sendable () async -> Bool

    func finding(_ app: Configuration.App, _ store: StoreEnvironment, _ server: AppStoreServerClient) async -> Finding {
        let subject = "\(app.id) \(store.rawValue)"
        let token: String
        do throws(AppStoreFailure) {
            token = try await server.requestTestNotification(in: store)
        } catch {
            return Self.refused(error, subject, app)
        }
        var result: String?
        var notice: NotificationID?
        for second in 0..<max(1, wait) {
            if second > 0, await !pause() { break }
            // Not sent yet, or too soon to ask: the next second tells.
            if notice == nil || result == nil, let record = try? await server.testNotification(token, in: store) {
                result = record.result
                notice = (record.proof.fact.claims.notice?.uuid).flatMap { NotificationID($0.lowercased()) }
            }
            if let notice, await isKept(notice, app.id, store) {
                return .ok("notification", of: subject, "a test notification arrived after \(second) s")
            }
            // Who answers Apple with success has it on the disk by then.
            if let result { return result == "SUCCESS" ? Self.elsewhere(subject) : Self.lost(result, subject, app) }
        }
        return Self.silent(subject, wait)
    }

    /// On either side of the wall, whoever signed it.
    private func isKept(_ notice: NotificationID, _ app: AppID, _ store: StoreEnvironment) async -> Bool {
        let found = try? await ledger?.read { reader throws(StoreFailure) in
            for isTestSigned in [false, true] {
                let realm = Realm(environment: store, isTestSigned: isTestSigned)
                let key = NotificationKey(app: app, realm: realm, id: notice)
                if try reader.notification(key) != nil { return true }
            }
            return false
        }
        return found ?? false
    }

    // MARK: What is said

    /// The address to give to Apple; what of it is a secret stays one.
    private static func path(_ app: Configuration.App) -> String {
        "/v1/apple/notifications/" + (app.store.notificationToken == nil ? app.id.text : "NOTIFICATION_TOKEN")
    }

    private static let page = "App Store Connect, the app, App Information, App Store Server Notifications"

    private static func refused(_ failure: AppStoreFailure, _ subject: String, _ app: Configuration.App) -> Finding {
        if case .refused(.noNotificationURL) = failure {
            return .fail(
                "notification",
                of: subject,
                "Apple has no address to send them to",
                fix: "set https://YOUR.HOST\(path(app)), version 2, in \(page)"
            )
        }
        return .warn("notification", of: subject, "Apple sends no test: \(failure)", fix: "ask again")
    }

    private static func lost(_ result: String, _ subject: String, _ app: Configuration.App) -> Finding {
        .fail(
            "notification",
            of: subject,
            "Apple could not deliver it: \(result)",
            cause: causes[result],
            fix: "look at the address in \(page): it ends with \(path(app)), and must lead to this server over https"
        )
    }

    /// Source: Apple, *App Store Server API*, *sendAttemptResult*.
    private static let causes = [
        "TIMED_OUT": "The server, or what stands before it, did not answer in time.",
        "TLS_ISSUE":
            "The certificate has ended, is not for this name, or lacks its intermediate; or TLS is older than 1.2.",
        "CIRCULAR_REDIRECT": "The address sends on in a circle.",
        "NO_RESPONSE": "Nothing came back.",
        "SOCKET_ISSUE": "Nobody listens there, or a firewall is in between: Apple sends from 17.0.0.0/8.",
        "UNSUPPORTED_CHARSET": "Something else than Assay answers there.",
        "INVALID_RESPONSE": "Something else than Assay answers there.",
        "PREMATURE_CLOSE": "The connection was closed while Apple was sending: a proxy's limit, perhaps.",
        "UNSUCCESSFUL_HTTP_RESPONSE_CODE":
            "A proxy answers for the server, or the path is wrong, or the server is down.",
    ]

    private static func elsewhere(_ subject: String) -> Finding {
        .fail(
            "notification",
            of: subject,
            "Apple delivered it, and it is not in this ledger",
            cause:
                "Another server answers at the address, or this configuration names another ledger than the server's.",
            fix: "compare the address in \(page) with this server, and data or database.url with the server's"
        )
    }

    private static func silent(_ subject: String, _ wait: Int) -> Finding {
        .warn(
            "notification",
            of: subject,
            "no word of it within \(wait) s",
            cause: "Apple sends it a little later at times.",
            fix: "ask again with a longer --wait"
        )
    }
}
