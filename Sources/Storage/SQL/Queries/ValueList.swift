/// A list of values in a statement that is prepared once: it has a place for each that there may be, and what is left over is
/// NULL, which nothing equals.
enum ValueList {
    /// The places of parameters, from a number on.
    static func places(from first: Int, count: Int) -> String {
        (first..<first + count).map { "$\($0)" }.joined(separator: ", ")
    }

    /// Values for places, of which there are at least as many.
    static func filled(_ values: [SQLValue], _ count: Int) -> [SQLValue] {
        values + Array(repeating: .null, count: count - values.count)
    }
}
