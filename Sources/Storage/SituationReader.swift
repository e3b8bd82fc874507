// What is known around what is to be decided, looked up as one picture of the ledger.

package import PurchaseModel

extension StoreReader {
    /// What is known around some verified proofs: what decisions about them are made from.
    ///
    /// - Parameters:
    ///   - recordings: what the proofs prove.
    ///   - ownToken: the token that client libraries make of anybody's name; by it who waits for an order meets who places one.
    /// - Returns: the situation.
    /// - Throws: `StoreFailure`.
    package func situation(
        around recordings: [Recording],
        ownToken: (CustomerID) -> AccountToken? = { _ in nil }
    ) throws(StoreFailure) -> Situation {
        var situation = Situation(try transactions(recordings.flatMap(\.keys)))
        try answer(Inquiry(recordings, among: situation, ownToken: ownToken), in: &situation)
        try answerKin(in: &situation)
        let reconsidered = situation.reconsidered(for: recordings)
        if !reconsidered.isEmpty {
            for recorded in try transactions(reconsidered) { situation.note(recorded) }
            // What waits may say from which chain it goes on.
            try answerKin(in: &situation)
        }
        let periods = situation.periods(before: recordings)
        if !periods.isEmpty {
            for recorded in try transactions(periods) { situation.note(recorded) }
        }
        try answerBeside(in: &situation, with: recordings)
        // Before the rest, as it may say whose the rest is.
        var beside = Inquiry()
        beside.tokens = situation.tokens(beside: recordings)
        if !beside.tokens.isEmpty { try answer(beside, in: &situation) }
        try answer(Inquiry(recordings, after: situation, ownToken: ownToken), in: &situation)
        return situation
    }

    /// What is known around an order that is to be placed: also what may have been bought for it already.
    ///
    /// - Parameters:
    ///   - order: as it is to be.
    ///   - customerToken: the token that client libraries make of the customer's name.
    ///   - terms: how the app delivers.
    ///   - isShown: on which sides of the wall whoever places it may have anything happen.
    /// - Returns: the situation.
    /// - Throws: `StoreFailure`.
    package func situation(
        placing order: Order,
        customerToken: AccountToken?,
        _ terms: AppTerms,
        where isShown: (Realm) -> Bool = { _ in true }
    ) throws(StoreFailure) -> Situation {
        var situation = Situation()
        try answer(Inquiry(placing: order, customerToken: customerToken), in: &situation)
        guard situation.order(order.key) == nil else { return situation }
        let waiting = try waitingFulfilments(
            for: WishKey(app: order.app, customer: order.customer, product: order.product),
            tokens: [order.accountToken, customerToken].compactMap(\.self),
            limit: FulfilmentPage.limitMax
        )
        let recorded = try transactions(waiting.map(\.transaction).filter { isShown($0.realm) })
        for recorded in recorded { situation.note(recorded) }
        try answer(Inquiry(deciding: recorded, for: { _ in [order.customer] }, terms), in: &situation)
        try answerKin(in: &situation)
        let heldUp = try noteAgain(recorded, andBeside: true, in: &situation)
        try answerBeside(in: &situation)
        // A chain may have become another customer's while its purchase waited.
        var second = Inquiry(
            deciding: recorded + heldUp,
            for: { [situation.owner(of: $0), order.customer].compactMap(\.self) },
            terms
        )
        second.touch(situation.fulfilments(around: recorded))
        try answer(second, in: &situation)
        return situation
    }

    /// What is known around transactions, and an order if one is named.
    package func situation(
        of keys: [TransactionKey],
        order: OrderKey? = nil,
        _ terms: AppTerms
    ) throws(StoreFailure) -> Situation {
        let recorded = try transactions(keys)
        var situation = Situation(recorded)
        var first = Inquiry(deciding: recorded, for: { _ in [] }, terms)
        if let order { first.orders.insert(order) }
        try answer(first, in: &situation)
        try answerKin(in: &situation)
        let payer = order.flatMap { situation.order($0)?.customer }
        let heldUp = try noteAgain(recorded, andBeside: order != nil, in: &situation)
        try answerBeside(in: &situation)
        var second = Inquiry(
            deciding: recorded + heldUp,
            for: { [situation.owner(of: $0), payer].compactMap(\.self) },
            terms
        )
        second.touch(situation.fulfilments(around: recorded))
        // A copy without an account token goes by the one that was signed last in its chain.
        for recorded in recorded where order != nil {
            let chain = situation.chain(of: recorded)
            guard let signed = situation.signedToken(of: chain) else { continue }
            second.tokens.insert(TokenKey(app: chain.app, token: signed.token))
        }
        try answer(second, in: &situation)
        return situation
    }

    /// Reads transactions once more, now that what was given for them is known: a fact that is newer than that is told by a
    /// conflict, one that is older would not be. With them, where it is wanted, what waits beside them.
    ///
    /// - Returns: what waits beside them.
    private func noteAgain(
        _ recorded: [RecordedTransaction],
        andBeside isBesideWanted: Bool,
        in situation: inout Situation
    ) throws(StoreFailure) -> [RecordedTransaction] {
        guard !recorded.isEmpty else { return [] }
        let beside = isBesideWanted ? situation.heldUp(beside: recorded) : []
        let found = try transactions(recorded.map(\.key) + beside)
        for recorded in found { situation.note(recorded) }
        let keys = Set(beside)
        return found.filter { keys.contains($0.key) }
    }

    /// Looks up what tells whose those are of which Apple has not said it.
    private func answerBeside(
        in situation: inout Situation,
        with recordings: [Recording] = []
    ) throws(StoreFailure) {
        let beside = situation.besideUnsaid(with: recordings)
        if beside.isEmpty { return }
        for recorded in try transactions(beside) { situation.note(beside: recorded) }
    }

    /// Looks up the other chains of subscriptions that Apple goes on with under another number, the whole line of them.
    private func answerKin(in situation: inout Situation) throws(StoreFailure) {
        for _ in 0..<ChainKey.movesMax {
            let kin = situation.kin.subtracting(situation.asked)
            if kin.chains.isEmpty { return }
            try answer(kin, in: &situation)
        }
    }

    /// Looks up what is asked, as far as it was not before, and notes it.
    ///
    /// Where each question sees what was committed until then, a row with a version is read before what it vouches for: if it
    /// is older than the rest, that is told by a conflict; if it were newer, it would vouch for what was not seen.
    package func answer(_ asked: Inquiry, in situation: inout Situation) throws(StoreFailure) {
        let inquiry = asked.subtracting(situation.asked)
        situation.asked.formUnion(inquiry)
        situation.meetings.formUnion(inquiry.meetings)
        // Where there are many, a journey for each question is little beside asking twice.
        let isForeseen = inquiry.chains.count <= 64
        if isForeseen {
            try foresee { () throws(StoreFailure) in
                _ = try lastEventSequences(Array(inquiry.customers))
                _ = try subscriptions(Array(inquiry.subscriptions))
                _ = try ownersAndVacancies(Array(inquiry.chains))
            }
        }
        try noteLastNumbers(of: inquiry.customers, in: &situation)
        if !inquiry.subscriptions.isEmpty {
            for found in try subscriptions(Array(inquiry.subscriptions)) { situation.note(found) }
        }
        try noteOwners(of: inquiry.chains, in: &situation)
        if isForeseen {
            try foresee { () throws(StoreFailure) in
                _ = try owners(of: Array(inquiry.tokens))
                _ = try fulfilments(Array(inquiry.chains))
                _ = try orders(Array(inquiry.orders))
                _ = try openOrders(tokens: Array(inquiry.tokens))
                _ = try openOrders(wishes: Array(inquiry.wishes))
                _ = try wallets(Array(inquiry.wallets))
            }
        }
        for found in try owners(of: Array(inquiry.tokens)) { situation.note(found) }
        for found in try fulfilments(Array(inquiry.chains)) { situation.note(found) }
        for found in try orders(Array(inquiry.orders)) { situation.note(found) }
        for found in try openOrders(tokens: Array(inquiry.tokens)) { situation.note(found) }
        for found in try openOrders(wishes: Array(inquiry.wishes)) { situation.note(found) }
        for found in try wallets(Array(inquiry.wallets)) { situation.note(found) }
        if !inquiry.consumptions.isEmpty {
            for found in try consumptionRequests(Array(inquiry.consumptions)) { situation.note(found) }
        }
        if !inquiry.refundRequests.isEmpty {
            for found in try openConsumptionRequests(of: Array(inquiry.refundRequests)) { situation.note(found) }
        }
        for chain in inquiry.refundsDeclined { try noteRefundsDeclined(of: chain, in: &situation) }
        if !inquiry.consents.isEmpty {
            for found in try consents(Array(inquiry.consents)) { situation.note(found) }
        }
        if !inquiry.grantedEntitlements.isEmpty {
            for found in try grantedEntitlements(Array(inquiry.grantedEntitlements)) { situation.note(found) }
        }
    }

    private func noteLastNumbers(of streams: Set<StreamKey>, in situation: inout Situation) throws(StoreFailure) {
        guard !streams.isEmpty else { return }
        for (stream, last) in try lastEventSequences(Array(streams)) { situation.note(last, of: stream) }
    }

    /// Whose chains are, and how far their owners have been told: a transfer is told of in the old owner's stream, so that
    /// whoever turns out to be one is looked at again after his stream was.
    private func noteOwners(of chains: Set<ChainKey>, in situation: inout Situation) throws(StoreFailure) {
        var unsure = Array(chains)
        while !unsure.isEmpty {
            let found = try ownersAndVacancies(unsure)
            for vacancy in found.vacancies { situation.note(vacancy) }
            for owner in found.owners { situation.note(owner) }
            let fresh = found.owners.filter { !situation.asked.customers.contains($0.stream) }
            let streams = Set(fresh.map(\.stream))
            try noteLastNumbers(of: streams, in: &situation)
            situation.asked.customers.formUnion(streams)
            unsure = fresh.map(\.chain)
        }
    }
}

extension Owner {
    /// In which the owner is told of what is given.
    fileprivate var stream: StreamKey { StreamKey(app: chain.app, realm: chain.realm, customer: customer) }
}

extension Situation {
    fileprivate func owner(of recorded: RecordedTransaction) -> CustomerID? { owner(of: chain(of: recorded))?.customer }
}
