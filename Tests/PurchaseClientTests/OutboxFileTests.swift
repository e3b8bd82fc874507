import Foundation
import PurchaseClient
import Synchronization
import Testing

@Suite struct OutboxFileTests {
    /// Anything that may happen next.
    static func change(_ outbox: Outbox, _ chance: Chance) -> Outbox.Change {
        let at = Date(timeIntervalSince1970: Double(1_800_000_000_000 + chance.below(1_000_000)) / 1_000)
        guard !outbox.entries.isEmpty, !chance.happens(oneIn: 3) else {
            let proof = String(repeating: "e", count: 1 + chance.below(60)) + "\"\\\n€"
            let order = chance.happens(oneIn: 2) ? "order-\(chance.below(9))" : nil
            let id = String(chance.below(1_000))
            return .queue(Parcel(id: id, proof: proof, customer: "anna", order: order, at: at))
        }
        let id = chance.pick(outbox.entries).id
        switch chance.below(5) {
        case 0: return .wait(id: id, submission: String(repeating: "a", count: 32))
        case 1: return .requeue(id: id)
        case 2: return .confirm(id: id, Confirmation(decision: chance.pick([nil, .recorded, .revoked]), at: at))
        case 3: return .refuse(id: id, Refusal(verdict: "not_yours", reason: "other_product", at: at))
        default: return .forget(id: id)
        }
    }

    /// A folder that is there while the body runs.
    static func withFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    // MARK: Ends at any place

    @Test func afterAnyByteAllThatWasWrittenBeforeIsThere() throws {
        try Self.withFolder { folder in
            let path = folder.appending(path: "outbox.jsonl")
            let chance = Chance(seed: 7)
            var outbox = Outbox()
            var states: [(size: Int, outbox: Outbox)] = []
            do {
                let file = try OutboxFile(FolderStorage(folder))
                states.append((try Data(contentsOf: path).count, outbox))
                for _ in 0..<16 {
                    let change = Self.change(outbox, chance)
                    outbox.apply(change)
                    try file.write(change, leadingTo: outbox)
                    states.append((try Data(contentsOf: path).count, outbox))
                }
            }
            let whole = try Data(contentsOf: path)
            #expect(states.last?.size == whole.count)
            for length in 0...whole.count {
                let known = states.last { $0.size <= length }?.outbox ?? Outbox()
                #expect(try JournalBytes.outbox(whole.prefix(length)) == known, "cut at \(length)")
                // On a disk, whose calls take their time, each so many.
                guard length % 23 == 0 else { continue }
                try whole.prefix(length).write(to: path)
                let file = try OutboxFile(FolderStorage(folder))
                #expect(file.opened == known, "cut at \(length)")
                #expect(file.damagedLines == 0)
                // And goes on: what is written behind a line that was cut off is read again.
                let next = Outbox.Change.queue(Parcel(id: "next", proof: "p", customer: "b", order: nil, at: Date()))
                var more = known
                more.apply(next)
                try file.write(next, leadingTo: more)
                let found = try JournalBytes.outbox(Data(contentsOf: path))
                #expect(found.entries.map(\.id) == more.entries.map(\.id), "cut at \(length)")
            }
        }
    }

    /// The process is killed, or the power fails, before, in or after any call.
    @Test(arguments: UInt64(0)..<150)
    func whatWasWrittenSurvivesAnyEnd(seed: UInt64) throws {
        let chance = Chance(seed: seed)
        let every = 5 + chance.below(40)
        let disk = PaperDisk(chance) { _ in chance.happens(oneIn: every) ? chance.pick([.dies, .isFull, .fails]) : nil }
        var known = Outbox()
        /// What nobody was told is written, and may be.
        var possible: [Outbox] = []
        var written = 0
        for life in 0..<10 {
            guard let file = try? OutboxFile(PaperDisk.Storage(disk)) else {
                disk.restart(powerFails: chance.happens(oneIn: 2))
                continue
            }
            #expect(file.opened == known || possible.contains(file.opened), "life \(life)")
            #expect(file.damagedLines == 0)
            known = file.opened
            possible = []
            for _ in 0..<40 {
                let change = Self.change(known, chance)
                var next = known
                next.apply(change)
                do throws(OutboxFault) {
                    try file.write(change, leadingTo: next)
                    (known, possible) = (next, [])
                    written += 1
                } catch {
                    // The client goes on with it where the server has said so, and without it where it is new.
                    if case .queue = change {
                        possible.append(next)
                    } else {
                        possible.append(known)
                        known = next
                    }
                }
                if disk.isDead { break }
            }
            disk.die()
            disk.restart(powerFails: chance.happens(oneIn: 2))
        }
        #expect(written > 2)
    }

    /// A compaction that is killed at any of its calls.
    @Test(arguments: 0..<5, [false, true])
    func aCompactionMayEndAnywhere(deadly: Int, powerFails: Bool) throws {
        let chance = Chance(seed: UInt64(deadly))
        let start = Mutex(Int.max)
        let disk = PaperDisk(chance) { call in start.withLock { call == $0 &+ deadly ? .dies : nil } }
        let file = try OutboxFile(PaperDisk.Storage(disk))
        var outbox = Outbox()
        var number = 0
        /// One comes, and the one before it goes.
        func turn() throws {
            number += 1
            for change in [Self.parcel(number), .forget(id: String(number - 1))] {
                var next = outbox
                next.apply(change)
                try file.write(change, leadingTo: next)
                outbox = next
            }
        }
        var last = 0
        while disk.bytes.count >= last {
            last = disk.bytes.count
            // The next turn might be the one with the compaction in it.
            if last > OutboxFile.bytesAtEase - 700 { start.withLock { $0 = disk.calls + 1 } }
            guard (try? turn()) != nil else { break }
        }
        #expect(disk.isDead)
        disk.restart(powerFails: powerFails)
        let found = try OutboxFile(PaperDisk.Storage(disk)).opened.entries
        #expect(Set(outbox.entries.map(\.id)).isSubset(of: found.map(\.id)) || found.last?.id == String(number))
    }

    private static func parcel(_ number: Int) -> Outbox.Change {
        let proof = String(repeating: "x", count: 400)
        return .queue(Parcel(id: String(number), proof: proof, customer: "anna", order: nil, at: Date()))
    }

    // MARK: Room

    @Test func itStaysShortHoweverMuchComesAndGoes() throws {
        try Self.withFolder { folder in
            let path = folder.appending(path: "outbox.jsonl")
            let file = try OutboxFile(FolderStorage(folder))
            var outbox = Outbox()
            var longest = 0
            for number in 0..<300 {
                let proof = String(repeating: "x", count: 3_000)
                let parcel = Parcel(id: String(number), proof: proof, customer: "anna", order: nil, at: Date())
                for change in [.queue(parcel), Outbox.Change.forget(id: parcel.id)] {
                    outbox.apply(change)
                    try file.write(change, leadingTo: outbox)
                }
                longest = max(longest, try Data(contentsOf: path).count)
            }
            #expect(longest <= OutboxFile.bytesAtEase + 4_000)
        }
    }

    @Test func aFullDiskIsSaidAndNothingOnItIsLost() throws {
        try Self.withFolder { folder in
            let kept = Parcel(id: "1", proof: "p", customer: "anna", order: nil, at: Date())
            var outbox = Outbox()
            outbox.apply(.queue(kept))
            do {
                try OutboxFile(FolderStorage(folder)).write(.queue(kept), leadingTo: outbox)
            }
            // A file that needs to be written anew, on a disk without room for that.
            let path = folder.appending(path: "outbox.jsonl")
            try (Data(contentsOf: path) + Data("{\"kind\":\"que".utf8)).write(to: path)
            let second = folder.appending(path: "outbox.new").path()
            try FileManager.default.createSymbolicLink(atPath: second, withDestinationPath: "/dev/full")
            let file = try OutboxFile(FolderStorage(folder))
            #expect(file.opened.entries.map(\.id) == ["1"])
            var next = outbox
            let more = Parcel(id: "2", proof: "p", customer: "anna", order: nil, at: Date())
            next.apply(.queue(more))
            #expect(throws: OutboxFault.diskFull) { try file.write(.queue(more), leadingTo: next) }
            // There is room again.
            try FileManager.default.removeItem(atPath: second)
            try file.write(.queue(more), leadingTo: next)
            #expect(try JournalBytes.outbox(Data(contentsOf: path)).entries.map(\.id) == ["1", "2"])
        }
    }

    // MARK: What is found

    @Test func anotherOneThatHasItOpenIsNoticed() throws {
        try Self.withFolder { folder in
            let first = try FolderStorage(folder)
            #expect(throws: OutboxFault.inUse) { try FolderStorage(folder) }
            withExtendedLifetime(first) {}
        }
        try Self.withFolder { folder in
            for _ in 0..<3 { _ = try OutboxFile(FolderStorage(folder)) }
        }
    }

    @Test(arguments: [
        ("", [], 0),
        (#"{"kind":"outbox","version":1}"# + "\n", [], 0),
        ("\0\0\0\n", [], 1),
        ("not JSON\n" + row("1") + "{\"kind\":\"new\",\"id\":\"1\"}\n" + row("2"), ["1", "2"], 2),
        (#"{"kind":"confirm","id":"9","at":1}"# + "\n" + row("1") + row("1"), ["1"], 0),
        (row("1") + #"{"kind":"forget","id":"1"}"# + "\n" + row("2"), ["2"], 0),
        (row("1") + String(row("2").dropLast()), ["1"], 0),
        (#"{"kind":"queue","id":"1","at":1,"body":"{}"}"# + "\n", [], 1),
    ])
    func whatCannotBeReadIsPassedOver(text: String, ids: [String], damaged: Int) throws {
        try Self.withFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: folder.appending(path: "outbox.jsonl"))
            for isSecondTime in [false, true] {
                let file = try OutboxFile(FolderStorage(folder))
                #expect(file.opened.entries.map(\.id) == ids)
                #expect(file.damagedLines == (isSecondTime ? 0 : damaged))
            }
        }
    }

    static func row(_ id: String) -> String {
        #"{"kind":"queue","id":"\#(id)","at":1,"body":"{\"proof\":\"p\",\"customer_id\":\"a\"}"}"# + "\n"
    }

    @Test func whatANewerVersionHasWrittenIsLeftAlone() throws {
        try Self.withFolder { folder in
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.appending(path: "outbox.jsonl")
            let text = #"{"kind":"outbox","version":2}"# + "\n" + Self.row("1")
            try Data(text.utf8).write(to: path)
            #expect(throws: OutboxFault.newer) { try OutboxFile(FolderStorage(folder)) }
            #expect(try Data(contentsOf: path) == Data(text.utf8))
        }
    }

    /// Also of what the server's JSON reader must not be shown raw.
    @Test(arguments: ["a", "\"", "\\", "\n\t\0\u{1F}", "é€😀", "a/b+c=="])
    func aBodyIsTheSameBytesAfterAStart(proof: String) throws {
        try Self.withFolder { folder in
            let parcel = Parcel(id: "1", proof: proof, customer: "anna", order: "o", at: Date())
            var outbox = Outbox()
            outbox.apply(.queue(parcel))
            do {
                try OutboxFile(FolderStorage(folder)).write(.queue(parcel), leadingTo: outbox)
            }
            let found = try #require(try OutboxFile(FolderStorage(folder)).opened["1"])
            #expect(found.body == Array(parcel.body.utf8))
            #expect(found.proof == proof)
            let read = try #require(try JSONSerialization.jsonObject(with: Data(found.body)) as? [String: String])
            #expect(read == ["proof": proof, "customer_id": "anna", "order_id": "o"])
        }
    }
}

/// A journal's bytes, read without opening it.
enum JournalBytes {
    static func outbox(_ bytes: Data) throws -> Outbox {
        final class Bytes: JournalStorage {
            let bytes: [UInt8]
            init(_ bytes: [UInt8]) { self.bytes = bytes }
            func read() throws(OutboxFault) -> [UInt8] { bytes }
            func append(_ bytes: [UInt8]) throws(OutboxFault) {}
            func synchronize() throws(OutboxFault) {}
            func writeSecond(_ bytes: [UInt8]) throws(OutboxFault) {}
            func replaceBySecond() throws(OutboxFault) {}
            func synchronizeFolder() throws(OutboxFault) {}
        }
        return try OutboxFile(Bytes([UInt8](bytes))).opened
    }
}
