import AppStore
import HTTP
import Pipeline
import PurchaseModel

/// Whether Apple can be reached, and takes each app's tokens.
struct CheckApple {
    /// A transaction that nobody has: whoever is told so was believed.
    private static let nobodys = TransactionID(number: 1)

    let caller: HTTPCaller

    // MARK: Hosts

    func hosts(_ urls: [String]) async -> [Finding] {
        var findings: [Finding] = []
        for url in urls {
            do throws(HTTPCallFailure) {
                _ = try await caller.send(HTTPCall(url: url, timeout: .seconds(10)))
                findings.append(.ok("host", of: url, "reached"))
            } catch {
                findings.append(.fail("host", of: url, error.sentence, fix: error.advice))
            }
        }
        return findings
    }

    /// All that the apps' settings name, in their order.
    static func urls(_ apps: [Configuration.App]) -> [String] {
        var urls: [String] = []
        for app in apps {
            for store in stores(app) {
                if app.store.key != nil { urls.append(app.store.hosts.serverAPI(store)) }
                if app.store.sharedSecret != nil { urls.append(app.store.hosts.verifyReceipt(store)) }
            }
        }
        return urls.enumerated().filter { index, url in !urls[..<index].contains(url) }.map(\.element)
    }

    static func stores(_ app: Configuration.App) -> [StoreEnvironment] {
        [.production, .sandbox].filter { app.environments.contains($0) }
    }

    // MARK: Tokens

    enum Word: Equatable {
        case accepted
        case refused
        case failed(AppStoreFailure)
        /// The host's finding says it.
        case unheard
    }

    /// How each store takes a token of this app.
    func words(
        _ server: AppStoreServerClient,
        _ stores: [StoreEnvironment]
    ) async -> [(store: StoreEnvironment, word: Word)] {
        guard let nobodys = Self.nobodys else { return [] }
        var words: [(StoreEnvironment, Word)] = []
        for store in stores {
            do throws(AppStoreFailure) {
                _ = try await server.transaction(nobodys, in: store)
                words.append((store, .accepted))
            } catch {
                words.append((store, Self.word(error)))
            }
        }
        return words
    }

    static func word(_ failure: AppStoreFailure) -> Word {
        switch failure {
        case .unauthorized: .refused
        case .unreachable: .unheard
        // What it says of a transaction it says to who was believed.
        case .refused(let code) where (400..<429).contains(code.rawValue / 10_000) && code != .appNotFound: .accepted
        default: .failed(failure)
        }
    }

    static func finding(
        _ app: Configuration.App,
        _ store: StoreEnvironment,
        _ word: Word,
        isOtherAccepted: Bool,
        isClockWrong: Bool
    ) -> Finding? {
        let subject = "\(app.id) \(store.rawValue)"
        switch word {
        case .unheard: return nil
        case .accepted: return .ok("token", of: subject, "Apple takes it")
        case .refused:
            return EmptyAnswer(app: app, store: store, isOtherAccepted: isOtherAccepted, isClockWrong: isClockWrong)
                .finding(subject)
        case .failed(.refused(.appNotFound)):
            return .fail(
                "token",
                of: subject,
                "Apple knows no app \(app.bundleID) of this key's team",
                fix: "compare bundle_id with App Store Connect; the key must be of the team that has the app"
            )
        case .failed(let failure):
            return .warn("token", of: subject, "no word of it: \(failure)", fix: "ask again; Apple has bad hours")
        }
    }
}

/// Apple's 401, which has no body and names no reason: what it can be.
struct EmptyAnswer {
    let app: Configuration.App
    let store: StoreEnvironment
    /// Whether the app's other store takes the same token.
    let isOtherAccepted: Bool
    let isClockWrong: Bool

    func finding(_ subject: String) -> Finding {
        .fail("token", of: subject, "Apple answers 401, and says nothing more", cause: cause, fix: fix)
    }

    private var cause: String {
        if isOtherAccepted {
            return """
                The other store takes the same key: issuer, key and clock are right.
                An app that was never released is said to be answered so by production.
                """
        }
        let clock = isClockWrong ? ["The clock is wrong (above): tokens look old or from the future."] : []
        return
            (clock + [
                "One of these, likely ones first:",
                "- issuer_id is another team's, or that of other keys: \(app.store.key?.issuer ?? "")",
                "- key_id is not the one of this private key: \(app.store.key?.id ?? "")",
                "- the key was revoked in App Store Connect",
                "- it is a key of the App Store Connect API, and not an In-App Purchase key",
                "- bundle_id is no app of that team: \(app.bundleID)",
            ]).joined(separator: "\n")
    }

    private var fix: String {
        if isOtherAccepted {
            return "take production out of environments until the app is released, or look for its bundle id"
        }
        let page = "App Store Connect, Users and Access, Integrations, In-App Purchase"
        return (isClockWrong ? "set the clock, and ask again; then " : "") + "compare them with \(page)"
    }
}
