// What `assay verify` says of one test purchase, with serial numbers and hashes taken out. A change here is a change
// of what scripts rely on.
extension VerifyCommandTests {
    static let goldenText = """
        -: test_signed (added_root)
          format       jws_transaction
          app          com.example.simulated
          environment  sandbox
          signed       2025-06-15T12:00:00.000Z
          transaction  2000000000000001 coins, bought 2025-06-15T12:00:00.000Z
          check        chain passed
          check        signature passed
          check        content passed
          check        validity passed
          check        bundle_id skipped: no bundle id was given: the app is not checked
          check        apple_id skipped: no App Store number was given
          check        environment skipped: no environment was given: any is taken
          check        product skipped: no product was given
          certificate  C=US,O=Simulated App Store,OU=Simulated Worldwide Developer Relations,CN=Simulated ECC Mac App Store and iTunes Store Receipt Signing
                       serial SERIAL, valid 2020-01-01T00:00:00.000Z to 2040-01-01T00:00:00.000Z
                       sha256 HASH
          certificate  C=US,O=Simulated App Store,OU=Simulated G6,CN=Simulated Worldwide Developer Relations Certification Authority
                       serial SERIAL, valid 2020-01-01T00:00:00.000Z to 2040-01-01T00:00:00.000Z
                       sha256 HASH
          certificate  C=US,O=Simulated App Store,OU=Simulated Certification Authority,CN=Simulated Root CA - G3
                       serial SERIAL, valid 2020-01-01T00:00:00.000Z to 2040-01-01T00:00:00.000Z
                       sha256 HASH

        """

    static let goldenJSON = """
        {"file":"-","format":"jws_transaction","verdict":"test_signed","reason":"added_root","environment":"sandbox",\
        "bundle_id":"com.example.simulated","signed_at":"2025-06-15T12:00:00.000Z","transactions":[{\
        "transaction_id":"2000000000000001","original_transaction_id":"2000000000000001","product_id":"coins",\
        "type":"consumable","quantity":1,"purchase_date":"2025-06-15T12:00:00.000Z",\
        "original_purchase_date":"2025-06-15T12:00:00.000Z","transaction_reason":"purchase",\
        "ownership":"purchased"}],"checks":[\
        {"name":"chain","outcome":"passed"},{"name":"signature","outcome":"passed"},\
        {"name":"content","outcome":"passed"},{"name":"validity","outcome":"passed"},\
        {"name":"bundle_id","outcome":"skipped","detail":"no bundle id was given: the app is not checked"},\
        {"name":"apple_id","outcome":"skipped","detail":"no App Store number was given"},\
        {"name":"environment","outcome":"skipped","detail":"no environment was given: any is taken"},\
        {"name":"product","outcome":"skipped","detail":"no product was given"}],"certificates":[\
        {"subject":"\(leaf)","issuer":"\(intermediate)",\(facts)},\
        {"subject":"\(intermediate)","issuer":"\(root)",\(facts)},\
        {"subject":"\(root)","issuer":"\(root)",\(facts)}]}

        """

    private static let leaf =
        "C=US,O=Simulated App Store,OU=Simulated Worldwide Developer Relations,"
        + "CN=Simulated ECC Mac App Store and iTunes Store Receipt Signing"
    private static let intermediate =
        "C=US,O=Simulated App Store,OU=Simulated G6,CN=Simulated Worldwide Developer Relations Certification Authority"
    private static let root =
        "C=US,O=Simulated App Store,OU=Simulated Certification Authority,CN=Simulated Root CA - G3"
    private static let facts =
        "\"serial\":\"SERIAL\",\"sha256\":\"HASH\",\"not_before\":\"2020-01-01T00:00:00.000Z\","
        + "\"not_after\":\"2040-01-01T00:00:00.000Z\""
}
