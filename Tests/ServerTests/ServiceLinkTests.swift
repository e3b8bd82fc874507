import Testing

@testable import Server

/// Variables that Kubernetes makes of a service, and those that only look like them.
@Suite struct ServiceLinkTests {
    @Test(
        arguments: [
            ("ASSAY_SERVICE_HOST", "10.0.0.11", true), ("ASSAY_SERVICE_PORT", "8080", true),
            ("ASSAY_SERVICE_PORT_HTTP", "8080", true), ("ASSAY_PORT", "tcp://10.0.0.11:8080", true),
            ("ASSAY_PORT_8080_TCP", "tcp://10.0.0.11:8080", true), ("ASSAY_PORT_8080_TCP_PROTO", "tcp", true),
            ("ASSAY_PORT_8080_TCP_PORT", "8080", true), ("ASSAY_PORT_8080_TCP_ADDR", "10.0.0.11", true),
            // Of a service assay-db.
            ("ASSAY_DB_SERVICE_HOST", "fd00::1", true), ("ASSAY_DB_PORT", "udp://[fd00::1]:53", true),
            ("ASSAY_DB_PORT_53_UDP", "udp://[fd00::1]:53", true),
            ("ASSAY_PORT", "9000", false), ("ASSAY_PORT", "http://10.0.0.11", false), ("ASSAY_PORT_TCP", "9000", false),
            ("ASSAY_PORT_HTTP_TCP", "9000", false), ("ASSAY_HOST", "10.0.0.11", false),
            ("ASSAY_LISTN", "tcp://10.0.0.11:8080", false), ("ASSAY_SERVICE", "10.0.0.11", false),
        ]
    )
    func isOneByItsNameAndValue(name: String, value: String, isOne: Bool) {
        #expect(ServiceLink.isOne(name, value) == isOne)
    }
}
