import Synchronization

/// What tasks note down beside each other, for the test to look at.
final class Noted<Value: Sendable>: Sendable {
    private let noted = Mutex<[Value]>([])

    var values: [Value] { noted.withLock { $0 } }

    func note(_ value: Value) { noted.withLock { $0.append(value) } }
}
