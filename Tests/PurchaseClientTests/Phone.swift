import Foundation
import PurchaseClient
import Synchronization

/// A device with its store, its disk and a server, which all outlive the app.
final class Phone: Sendable {
    struct Sold: Sendable {
        let id: String
        var proof: String
        var isFinished = false
        var accountToken: UUID?
        /// The server refuses it.
        let isForged: Bool
    }

    struct State {
        var sold: [Sold] = []
        /// Those of which an answer has reached the app that says that they are recorded.
        var confirmed: Set<String> = []
        var refused: Set<String> = []
        /// Finished before the server had said that it is recorded.
        var finishedTooEarly: [String] = []
        var bodies: [String: Set<[UInt8]>] = [:]
        var inFlight: Set<String> = []
        var inFlightMost = 0
        var doubles = 0
        var isCalm = false
        /// The app is killed when it is about to tell the store.
        var diesBeforeFinishing = false
        /// Of these the store never says that they are finished.
        var finishesNever: Set<String> = []
    }

    let chance: Chance
    let time: VirtualTime
    let disk: PaperDisk
    let server: FakeServer
    let state = Mutex(State())

    init(seed: UInt64, blow: (@Sendable (Chance) -> PaperDisk.Blow?)? = nil) {
        let chance = Chance(seed: seed)
        self.chance = chance
        time = VirtualTime(chance)
        disk = PaperDisk(chance) { _ in blow?(chance) }
        server = FakeServer(chance)
    }

    /// Somebody buys.
    func sell(isForged: Bool, to accountToken: UUID? = nil) -> StorePurchase {
        let sold = state.withLock { state in
            let id = String(state.sold.count + 1)
            let proof = (isForged ? "forged-" : "proof-") + id
            let sold = Sold(id: id, proof: proof, accountToken: accountToken, isForged: isForged)
            state.sold.append(sold)
            return sold
        }
        return purchase(sold)
    }

    private func purchase(_ sold: Sold) -> StorePurchase {
        StorePurchase(id: sold.id, proof: sold.proof, accountToken: sold.accountToken) { [self] in
            if state.withLock(\.diesBeforeFinishing) { disk.die() }
            // A process that has ended tells nobody anything.
            if disk.isDead { return }
            while state.withLock({ $0.finishesNever.contains(sold.id) }) {
                if Task.isCancelled { return }
                await time.sleep(10_000)
            }
            await time.sleep(Double(chance.below(3)))
            if disk.isDead { return }
            state.withLock { state in
                if !state.confirmed.contains(sold.id) { state.finishedTooEarly.append(sold.id) }
                for place in state.sold.indices where state.sold[place].id == sold.id {
                    state.sold[place].isFinished = true
                }
            }
        }
    }

    var unfinished: [Sold] { state.withLock { $0.sold.filter { !$0.isFinished } } }

    var source: PurchaseSource {
        PurchaseSource(
            listen: { [self] take in
                while !Task.isCancelled {
                    await time.sleep(Double(1 + chance.below(900)))
                    if Task.isCancelled { return }
                    let open = unfinished
                    if !open.isEmpty { await take(purchase(chance.pick(open))) }
                }
            },
            unfinished: { [self] in unfinished.map(purchase) }
        )
    }

    var transport: Transport {
        Transport { [self] request in
            guard !disk.isDead else { throw Gone() }
            let name = request.target + String(decoding: request.body, as: UTF8.self)
            state.withLock { state in
                if !state.inFlight.insert(name).inserted { state.doubles += 1 }
                state.inFlightMost = max(state.inFlightMost, state.inFlight.count)
            }
            defer { state.withLock { _ = $0.inFlight.remove(name) } }
            await time.sleep(Double(chance.below(4)))
            if Task.isCancelled { throw CancellationError() }
            let answer = try server.answer(request, at: time.now, isCalm: state.withLock { $0.isCalm })
            await time.sleep(Double(chance.below(2)))
            guard !disk.isDead, !Task.isCancelled else { throw Gone() }
            note(request, answer)
            return answer
        }
    }

    private func note(_ request: Transport.Request, _ answer: Transport.Answer) {
        guard let body = FakeServer.body(request) else { return }
        state.withLock { state in
            let id = String(body.proof.split(separator: "-")[1])
            state.bodies[id, default: []].insert(request.body)
            let text = String(decoding: answer.body, as: UTF8.self)
            if answer.status == 200, text.contains("recorded\"") { state.confirmed.insert(id) }
            if answer.status == 422, text.contains("\"refused\"") { state.refused.insert(id) }
        }
    }

    struct Gone: Error {}
}

/// A server that keeps to its contract, in any weather.
final class FakeServer: Sendable {
    struct Body: Decodable { let proof: String }

    private struct State {
        var recorded: [String: Int] = [:]
        /// When what waits is decided, by its proof.
        var waiting: [String: Double] = [:]
        var names: [String: String] = [:]
        /// Nobody gets in until then.
        var closedUntil = 0.0
    }

    private let chance: Chance
    private let state = Mutex(State())

    init(_ chance: Chance) { self.chance = chance }

    var recorded: Set<String> { state.withLock { Set($0.recorded.keys) } }

    static func body(_ request: Transport.Request) -> Body? {
        request.method == "POST" ? try? JSONDecoder().decode(Body.self, from: Data(request.body)) : nil
    }

    func answer(_ request: Transport.Request, at now: Double, isCalm: Bool) throws -> Transport.Answer {
        let weather = isCalm ? 99 : chance.below(24)
        switch weather {
        case 0, 1: throw URLError(.notConnectedToInternet)
        case 2: return json(200, "<html>Log in to our network</html>")
        case 3: return json(503, #"{"code":"busy"}"#, ["Retry-After": String(chance.below(40))])
        case 4: return json(429, #"{"code":"rate_limited"}"#, ["Retry-After": "1"])
        case 5: return json(502, "Bad Gateway")
        case 6: return json(chance.pick([400, 401, 403, 404, 413, 307]), "")
        case 7: return json(422, "<html>A proxy</html>")
        default: break
        }
        let answer = respond(to: request, at: now, isCalm: isCalm)
        // It was done, and nobody hears of it.
        if weather < 12 { throw URLError(.networkConnectionLost) }
        return answer
    }

    private func respond(to request: Transport.Request, at now: Double, isCalm: Bool) -> Transport.Answer {
        state.withLock { state in
            guard let body = Self.body(request) else {
                let name = String(request.target.split(separator: "/").last ?? "")
                guard let proof = state.names[name] else { return json(404, #"{"code":"not_found"}"#) }
                let isDecided = isCalm || now >= state.waiting[proof] ?? 0
                return json(200, #"{"result":"\#(isDecided ? "decided" : "pending")"}"#)
            }
            guard !body.proof.hasPrefix("forged") else {
                return json(422, #"{"code":"refused","verdict":"forged","reason":"not_authentic"}"#)
            }
            if state.waiting[body.proof] == nil, chance.happens(oneIn: 3) {
                state.waiting[body.proof] = now + Double(chance.below(5_000))
                let name = String(state.names.count + 1, radix: 16)
                state.names[String(repeating: "0", count: 32 - name.count) + name] = body.proof
            }
            if !isCalm, let until = state.waiting[body.proof], now < until {
                let name = state.names.first { $0.value == body.proof }?.key ?? ""
                return json(202, #"{"result":"pending","submission_id":"\#(name)"}"#)
            }
            state.recorded[body.proof, default: 0] += 1
            let isFirst = state.recorded[body.proof] == 1
            let id = String(body.proof.split(separator: "-")[1])
            return json(
                200,
                #"{"result":"\#(isFirst ? "recorded" : "already_recorded")","#
                    + #""transactions":[{"transaction_id":"\#(id)","decision":"recorded"}]}"#
            )
        }
    }

    private func json(_ status: Int, _ text: String, _ fields: [String: String] = [:]) -> Transport.Answer {
        Transport.Answer(status: status, fields: fields, body: Array(text.utf8))
    }
}
