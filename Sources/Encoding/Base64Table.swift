/// What each of the 256 bytes is worth as a character of an alphabet, and the other way round.
struct Base64Table: Sendable {
    /// For each byte less than 64; all bits for one outside the alphabet, which shows in a group of 24 bits wherever it
    /// is put. As many as there are bytes.
    let values: [UInt32]
    private let characters: [UInt8]

    static let standard = Base64Table(last: UInt8(ascii: "+"), UInt8(ascii: "/"))
    static let url = Base64Table(last: UInt8(ascii: "-"), UInt8(ascii: "_"))

    private init(last: UInt8...) {
        let all =
            Array(UInt8(ascii: "A")...UInt8(ascii: "Z")) + Array(UInt8(ascii: "a")...UInt8(ascii: "z"))
            + Array(UInt8(ascii: "0")...UInt8(ascii: "9")) + last
        var values = [UInt32](repeating: .max, count: 256)
        for (value, character) in all.enumerated() { values[Int(character)] = UInt32(value) }
        self.values = values
        characters = all
    }

    /// See ``values``.
    func value(of byte: UInt8) -> UInt32 { values[Int(byte)] }

    /// What a group of four characters is worth, 24 bits; more where one is outside the alphabet.
    func bits(_ group: Span<UInt8>) -> UInt32 {
        value(of: group[0]) &<< 18 | value(of: group[1]) &<< 12 | value(of: group[2]) &<< 6 | value(of: group[3])
    }

    /// The character for the low six bits.
    func character(_ value: UInt32) -> UInt8 { characters[Int(value & 63)] }
}
