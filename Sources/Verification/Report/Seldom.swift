/// A large value that is seldom there. It lies apart, so that what holds it is small and quick to copy.
@propertyWrapper
package struct Seldom<Value: Hashable & Sendable>: Hashable, Sendable {
    /// None or one.
    private var values: [Value]

    package init(wrappedValue: Value?) {
        values = wrappedValue.map { [$0] } ?? []
    }

    package var wrappedValue: Value? {
        get { values.first }
        set { values = newValue.map { [$0] } ?? [] }
    }
}
