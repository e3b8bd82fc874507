/// How one attempt at a write ended.
enum WriteOutcome<Value> {
    case done(Value)
    /// The commit was sent and no answer came: it holds, or it does not.
    case unknown(Value, batch: Int64)
    case failed(StoreFailure)
    /// Nothing of it is kept, and the same from its beginning may succeed.
    case again(StoreFailure)
    /// Nothing was begun: there is no connection to be had.
    case unreachable
}

extension WriteOutcome: Sendable where Value: Sendable {}
