/// What a server does not start with, and what the text of a configuration does not show: it is in the files that are named.
enum StartCheck {
    /// The configuration as a server takes it. What is thrown holds all faults, those of the text first.
    static func configuration(
        environment: [String: String],
        flags: [String: String]
    ) throws(ConfigurationFaults) -> Configuration {
        var reader = ConfigurationReader(files: .disk, isToServe: true)
        reader.read(environment: environment, flags: flags)
        let configuration = reader.configuration
        let text = reader.faults + contradictions(configuration) + ProductionProfile.faults(configuration)
        let faults = text + certificates(configuration) + keys(configuration)
        guard faults.isEmpty else { throw ConfigurationFaults(all: faults) }
        return configuration
    }

    /// Why a server serves neither of two ledgers that are named; none for one. One that had served the database would begin
    /// anew in the folder.
    static func contradictions(_ configuration: Configuration) -> [ConfigurationFault] {
        let folder = SettingOrigin.flag(Setting.data.flag)
        guard configuration.origins[Setting.databaseURL.path] == folder else { return [] }
        let message = "a database is named as well, and a server has one ledger: leave out the one or the other"
        return [ConfigurationFault(origin: folder, path: Setting.data.path, message: message)]
    }

    private static func certificates(_ configuration: Configuration) -> [ConfigurationFault] {
        let trust = configuration.trust
        let folders = [(Setting.trustRoots.path, trust.roots), (Setting.trustCertificates.path, trust.certificates)]
        return folders.flatMap { path, folder in
            let faults = folder.map { CertificateFolder.faults(in: $0) } ?? []
            let origin = configuration.origins[path] ?? .standard
            return faults.map { ConfigurationFault(origin: origin, path: path, message: $0.description) }
        }
    }

    private static func keys(_ configuration: Configuration) -> [ConfigurationFault] {
        configuration.apps.compactMap { app in
            do throws(AppleSide.Fault) {
                _ = try AppleSide.key(app.store, of: app.id)
                return nil
            } catch {
                let origin = configuration.origins["apps"] ?? .standard
                let path = app.store.key?.path ?? "apps"
                return ConfigurationFault(origin: origin, path: path, message: error.sentence)
            }
        }
    }
}
