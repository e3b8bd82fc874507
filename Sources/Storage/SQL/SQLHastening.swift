import PurchaseModel

// What a clock put off that was ahead: hands each part to the file that knows its SQL.
extension SQLTransaction {
    func hasten(by lead: ClockLead, from place: HastePlace, limit: Int) throws(StoreFailure) -> HasteStep {
        let limit = max(limit, 1)
        switch place.part {
        case .jobs(let before):
            // One for each app: they are few.
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
