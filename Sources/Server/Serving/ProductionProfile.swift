/// What the production profile refuses and only certificates show; the rest is the configuration's own check.
enum ProductionProfile {
    /// The configuration as a server takes it: read, and checked whole. What is thrown holds all faults.
    static func configuration(
        environment: [String: String],
        flags: [String: String],
        files: SettingsFiles = .disk
    ) throws(ConfigurationFaults) -> Configuration {
        let configuration = try Configuration.read(environment: environment, flags: flags, files: files)
        let faults = faults(configuration)
        guard faults.isEmpty else { throw ConfigurationFaults(all: faults) }
        return configuration
    }

    /// Roots of a simulator vouch for purchases that nobody paid for. Certificates that cannot be read are not looked at:
    /// the start refuses them in any profile.
    static func faults(_ configuration: Configuration) -> [ConfigurationFault] {
        guard configuration.profile == .production, let folder = configuration.trust.roots else { return [] }
        let path = Setting.trustRoots.path
        let origin = configuration.origins[path] ?? .standard
        return CertificateFolder.simulated(in: folder).map { file in
            ConfigurationFault(
                origin: origin,
                path: path,
                message: "\(file) is a simulator's root, which profile production does not trust"
            )
        }
    }
}
