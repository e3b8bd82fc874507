import AppStore
import Crypto
import Encoding
import PurchaseModel

/// The form of what each app asks Apple with.
enum CheckKeys {
    /// - Returns: the findings, and the apps whose key can be used.
    static func findings(_ apps: [Configuration.App]) -> (findings: [Finding], usable: [AppID]) {
        var findings: [Finding] = []
        var usable: [AppID] = []
        for app in apps {
            guard let key = app.store.key else {
                findings.append(without(app.id))
                continue
            }
            let wrong = form(key, app.id)
            findings += wrong.isEmpty ? [.ok("key", of: app.id.text, "\(key.id): a private key on P-256")] : wrong
            if !wrong.contains(where: { $0.status == .fail }) { usable.append(app.id) }
        }
        return (findings, usable)
    }

    private static func without(_ app: AppID) -> Finding {
        .warn(
            "key",
            of: app.text,
            "none",
            cause: "Apple cannot be asked: missed notifications stay missed, and what only Apple can decide waits.",
            fix:
                "make an In-App Purchase key in App Store Connect, and set app_store.issuer_id, key_id and private_key_file"
        )
    }

    private static func form(_ key: Configuration.AppStore.Key, _ app: AppID) -> [Finding] {
        var findings: [Finding] = []
        if UUIDText.halves(key.issuer) == nil {
            findings.append(
                .fail(
                    "key",
                    of: app.text,
                    "issuer_id is no UUID",
                    fix: "copy the issuer ID that stands above the keys in App Store Connect"
                )
            )
        }
        let isOfID = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) }
        if key.id.utf8.count != 10 || !key.id.utf8.allSatisfy(isOfID) {
            findings.append(
                .warn(
                    "key",
                    of: app.text,
                    "key_id is not ten capital letters and digits, as Apple's are",
                    fix: "copy the key ID that stands beside the key; it is in the file's name, too"
                )
            )
        }
        do throws(CryptoError) {
            _ = try ServerAPIKey(issuerID: key.issuer, keyID: key.id, pem: key.pem)
        } catch {
            findings.append(
                .fail(
                    "key",
                    of: app.text,
                    "the private key cannot be used: \(ServerAPIKey.sentence(error))",
                    fix: "take the .p8 file as it was downloaded, with its BEGIN and END lines"
                )
            )
        }
        return findings
    }
}
