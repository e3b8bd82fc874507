/// What a JSON document may cost at most.
package struct JSONLimits: Equatable, Sendable {
    /// The longest text that is read at all.
    package let bytesMax: Int
    /// How many arrays and objects may lie inside one another; 1 allows an object of scalars.
    package let depthMax: Int

    /// - Parameters:
    ///   - bytesMax: at most 1 GiB, since the tape keeps offsets in 32 bits; more is cut down to that.
    ///   - depthMax: at least 0, which allows only a scalar.
    package init(bytesMax: Int, depthMax: Int) {
        self.bytesMax = max(0, min(bytesMax, 1 << 30))
        self.depthMax = max(0, depthMax)
    }

    /// 16 MiB, which is the longest body that may be allowed, and a depth that no sender of ours needs.
    package static let standard = JSONLimits(bytesMax: 16 << 20, depthMax: 64)
}
