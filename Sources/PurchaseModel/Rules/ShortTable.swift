/// What a dictionary is, where there are mostly few entries: those are looked at one after the other, which costs less than
/// to hash keys that are made of several texts.
struct ShortTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let key: Key
        var value: Value
    }

    /// So many are looked through.
    private static var fewMax: Int { 8 }

    private var entries: [Entry] = []
    /// Where each stands; empty while there are few.
    private var places: [Key: Int] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// In the order in which they came.
    var values: [Value] { entries.map(\.value) }

    subscript(key: Key) -> Value? { place(of: key).map { entries[$0].value } }

    /// Notes a value in place of the one that there was.
    mutating func set(_ value: Value, for key: Key) {
        if let place = place(of: key) {
            entries[place].value = value
        } else {
            append(value, for: key)
        }
    }

    /// Changes the value of a key where it stands.
    mutating func change(_ key: Key, from first: @autoclosure () -> Value, _ body: (inout Value) -> Void) {
        if let place = place(of: key) {
            body(&entries[place].value)
        } else {
            append(first(), for: key)
            body(&entries[entries.count - 1].value)
        }
    }

    private func place(of key: Key) -> Int? {
        if !places.isEmpty { return places[key] }
        for place in entries.indices where entries[place].key == key { return place }
        return nil
    }

    private mutating func append(_ value: Value, for key: Key) {
        entries.append(Entry(key: key, value: value))
        if !places.isEmpty {
            places[key] = entries.count - 1
        } else if entries.count > Self.fewMax {
            for place in entries.indices { places[entries[place].key] = place }
        }
    }
}
