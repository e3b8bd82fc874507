/// Wakes one who waits. Rings that nobody has heard yet are one.
struct Bell: Sendable {
    let rings: AsyncStream<Void>
    private let rope: AsyncStream<Void>.Continuation

    init() {
        (rings, rope) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func ring() { rope.yield() }
}
