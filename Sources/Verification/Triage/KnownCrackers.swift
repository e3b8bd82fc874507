/// What cracking tools put in the place of a receipt. They are told by the text itself, whatever it is wrapped in.
enum KnownCrackers {
    /// The tool whose "receipt" is `com.urus.iap.` and a number.
    private static let prefixes: [[UInt8]] = [Array("com.urus.iap.".utf8)]
    /// No such token is longer; nothing longer is searched.
    private static let bytesMax = 256

    static func contains(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count <= bytesMax && prefixes.contains { bytes.starts(with: $0) }
    }
}
