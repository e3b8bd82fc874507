/// What stands for another byte in a URL: a percent sign and two hexadecimal digits.
enum PercentEncoding {
    /// Whether each percent sign begins one, and none stands for a zero, which ends a text in C.
    static func isWhole(_ text: ArraySlice<UInt8>) -> Bool {
        text.indices.allSatisfy { index in
            guard text[index] == UInt8(ascii: "%") else { return true }
            let digits = text[(index + 1)...].prefix(2)
            return digits.count == 2 && !digits.elementsEqual("00".utf8)
                && digits.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
                }
        }
    }
}
