import Encoding
import Testing
import TestSupport

@Suite struct HexadecimalTests {
    @Test(
        arguments: [
            ("", []), ("00", [0]), ("ff", [255]), ("FF", [255]), ("0aB9", [0x0A, 0xB9]),
            ("0", nil), ("000", nil), ("0g", nil), ("0x00", nil), (" 00", nil), ("0:", nil), ("@0", nil), ("`0", nil),
            ("\u{FF10}0", nil),
        ] as [(String, [UInt8]?)]
    )
    func decoding(text: String, bytes: [UInt8]?) {
        #expect(Hexadecimal.decode(text) == bytes)
        #expect(Hexadecimal.decode(Array(text.utf8)[...]) == bytes)
    }

    @Test func encodingIsLowerCaseAndDecodesBack() {
        let all = Array(UInt8.min...UInt8.max)
        #expect(Hexadecimal.encode([0, 9, 10, 0xAB, 255]) == "00090aabff")
        #expect(Hexadecimal.decode(Hexadecimal.encode(all)) == all)
    }
}
