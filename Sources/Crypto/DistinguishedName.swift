/// The name of a certificate's subject or issuer, as it is to be written.
package struct DistinguishedName: Hashable, Sendable {
    /// Attribute names as OpenSSL knows them (`CN`, `OU`, `O`, `C`, `emailAddress`) with their values, in the order in
    /// which they stand in the certificate.
    package var attributes: [Attribute]

    package struct Attribute: Hashable, Sendable {
        package var type: String
        package var value: String

        package init(_ type: String, _ value: String) {
            self.type = type
            self.value = value
        }
    }

    package init(_ attributes: [Attribute]) {
        self.attributes = attributes
    }

    package init(
        commonName: String,
        organizationalUnit: String? = nil,
        organization: String? = nil,
        country: String? = nil
    ) {
        attributes = [Attribute("CN", commonName)]
        if let organizationalUnit { attributes.append(Attribute("OU", organizationalUnit)) }
        if let organization { attributes.append(Attribute("O", organization)) }
        if let country { attributes.append(Attribute("C", country)) }
    }
}
