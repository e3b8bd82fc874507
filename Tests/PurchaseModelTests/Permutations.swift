/// Some facts in all the orders in which they may come: of five there are 120.
func permutations<Fact>(of facts: [Fact]) -> [[Fact]] {
    guard facts.count > 1 else { return [facts] }
    return facts.indices.flatMap { place in
        var rest = facts
        let first = rest.remove(at: place)
        return permutations(of: rest).map { [first] + $0 }
    }
}
