/// Makes a reason what every store can hold: short, and without NUL.
enum Reason {
    private static let bytesMax = 1_000

    static func storable(_ text: String) -> String {
        String(decoding: text.utf8.lazy.filter { $0 != 0 }.prefix(bytesMax), as: UTF8.self)
    }
}
