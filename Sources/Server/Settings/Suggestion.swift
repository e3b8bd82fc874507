/// The word that somebody may have meant.
enum Suggestion {
    /// The candidate that the fewest slips turn `word` into; nil if all are too far for a slip of the finger.
    ///
    /// A slip is a byte too many, one too few, a wrong one, or two that changed places. One in three bytes may be one.
    static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let word = folded(word)
        // Nobody means a word of this length, and comparing costs the product of the lengths.
        guard word.count <= 64 else { return nil }
        let rated = candidates.map { (name: $0, slips: slips(word, folded($0))) }
        let near = rated.filter { $0.slips <= max(1, min(word.count, $0.name.utf8.count) / 3) }
        return near.min { $0.slips < $1.slips }?.name
    }

    /// `; did you mean "…"?`, or nothing.
    static func phrase(for word: String, among candidates: some Sequence<String>) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// Case, hyphens and underscores are no slips.
    private static func folded(_ word: String) -> [UInt8] {
        word.utf8.compactMap { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "-"), UInt8(ascii: "_"): nil
            default: byte
            }
        }
    }

    private static func slips(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var twoBefore: [Int] = []
        var before = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var best = min(before[column] + (byte == other ? 0 : 1), before[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
                    best = min(best, twoBefore[column - 1] + 1)
                }
                current.append(best)
            }
            (twoBefore, before) = (before, current)
        }
        return before[right.count]
    }
}
