import PurchaseModel

/// What a clock put off that was ahead, part by part: each store knows its own rows, and they have one order of the parts.
protocol HasteSteps {
    /// All of them at once: there is one for each app.
    func hastenImports(by lead: ClockLead) throws(StoreFailure)

    func hastenJobs(
        by lead: ClockLead,
        before place: Int64,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: Int64?)

    func hastenDeliveries(
        by lead: ClockLead,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: WalkPlace?)

    func hastenLooks(
        by lead: ClockLead,
        after place: WalkPlace?,
        limit: Int
    ) throws(StoreFailure) -> (changed: Int, next: WalkPlace?)
}

extension HasteSteps {
    func hasten(by lead: ClockLead, from place: HastePlace, limit: Int) throws(StoreFailure) -> HasteStep {
        let limit = max(limit, 1)
        switch place.part {
        case .jobs(let before):
            if place == .start { try hastenImports(by: lead) }
            let step = try hastenJobs(by: lead, before: before, limit: limit)
            let next = step.next.map { HastePlace.Part.jobs(before: $0) } ?? .deliveries(after: nil)
            return HasteStep(hastened: step.changed, next: HastePlace(part: next))
        case .deliveries(let after):
            let step = try hastenDeliveries(by: lead, after: after, limit: limit)
            let next = step.next.map { HastePlace.Part.deliveries(after: $0) } ?? .looks(after: nil)
            return HasteStep(hastened: step.changed, next: HastePlace(part: next))
        case .looks(let after):
            let step = try hastenLooks(by: lead, after: after, limit: limit)
            return HasteStep(hastened: step.changed, next: step.next.map { HastePlace(part: .looks(after: $0)) })
        }
    }
}
