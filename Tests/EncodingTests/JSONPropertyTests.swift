import Encoding
import Foundation
import Testing
import TestSupport

@Suite struct JSONPropertyTests {
    @Test(arguments: UInt64(0)..<300)
    func whatWeTakeFoundationReadsAlike(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let text = RandomJSON.text(&random)
        let document = try JSONDocument(text)
        let theirs = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
        expectAlike(document.root, theirs)
    }

    @Test(arguments: UInt64(0)..<300)
    func whatWeWriteWeReadAgain(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let document = try JSONDocument(RandomJSON.text(&random))
        let copy = JSONWriter.array { rewrite(document.root, into: &$0) }
        let again = try JSONDocument(copy).root.array?[0]
        expectAlike(document.root, try #require(again))
        let theirs = try JSONSerialization.jsonObject(with: Data(copy)) as? [Any]
        expectAlike(document.root, try #require(theirs?.first))
    }

    @Test(arguments: UInt64(0)..<40)
    func truncationAtEveryByteIsRefused(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let text = [UInt8(ascii: "[")] + RandomJSON.text(&random) + [UInt8(ascii: "]")]
        for count in 0..<text.count {
            #expect(throws: JSONFault.self) { try JSONDocument(Array(text.prefix(count))) }
        }
    }

    @Test(arguments: UInt64(0)..<60)
    func mutationsNeverTrapAndNeverWidenTheDoor(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let text = RandomJSON.text(&random)
        for _ in 0..<300 {
            var mutated = text
            for _ in 0...Int.random(in: 0...2, using: &random) where !mutated.isEmpty {
                let at = Int.random(in: 0..<mutated.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: mutated[at] = UInt8.random(in: 0...255, using: &random)
                case 1: mutated.remove(at: at)
                case 2: mutated.insert(Array("\"\\{}[],:u0e.-\u{7F}".utf8).randomElement(using: &random) ?? 0, at: at)
                default: mutated.swapAt(at, Int.random(in: 0..<mutated.count, using: &random))
                }
            }
            guard let document = try? JSONDocument(mutated) else { continue }
            let theirs = try? JSONSerialization.jsonObject(with: Data(mutated), options: .fragmentsAllowed)
            // Foundation refuses some numbers that the grammar has, for they fit none of its types.
            if let theirs { expectAlike(document.root, theirs) } else { #expect(holdsExtremeNumber(document.root)) }
        }
    }

    @Test(arguments: UInt64(0)..<200)
    func doublesAreExact(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let number = Double(bitPattern: random.next())
        guard number.isFinite else { return }
        #expect(try JSONDocument(Array("\(number)".utf8)).root.double?.bitPattern == number.bitPattern)
    }

    /// Decodes with Foundation's other decoder, which is not built on the first.
    @Test(arguments: UInt64(0)..<200)
    func integersAndStringsAreThoseOfJSONDecoder(seed: UInt64) throws {
        struct Shape: Decodable, Equatable {
            var number: Int64
            var text: String
            var list: [String]
        }
        var random = SeededRandom(seed: seed)
        let list = (0..<3).map { _ in RandomJSON.quoted(&random) }
        let text =
            #"{"number":\#(Int64(bitPattern: random.next())),"text":\#(RandomJSON.quoted(&random)),"list":[\#(list.joined(separator: ","))]}"#
        let theirs = try JSONDecoder().decode(Shape.self, from: Data(text.utf8))
        let object = try #require(JSONDocument(Array(text.utf8)).root.object)
        #expect(object["number"]?.int64 == theirs.number)
        #expect(object["text"]?.says(theirs.text) == true)
        #expect(object["list"]?.array?.map { $0.string.map { Array($0.utf8) } } == theirs.list.map { Array($0.utf8) })
    }
}

extension JSONPropertyTests {
    private func expectAlike(_ ours: JSONValue, _ theirs: Any) {
        switch ours.kind {
        case .null: #expect(theirs is NSNull)
        case .boolean: #expect((theirs as? Bool) == ours.bool)
        case .string: #expect((theirs as? String).map { Array($0.utf8) } == ours.utf8.map { Array($0) })
        case .number:
            if let int64 = ours.int64 { #expect((theirs as? NSNumber)?.int64Value == int64) }
            // Foundation may miss the nearest double by one when a number has more digits than a double can hold.
            let (number, other) = (ours.double ?? .nan, (theirs as? NSNumber)?.doubleValue ?? .nan)
            #expect(abs(number - other) <= number.ulp)
        case .array:
            let others = theirs as? [Any] ?? []
            #expect(ours.array?.count == others.count)
            for (element, other) in zip(elements(ours), others) { expectAlike(element, other) }
        case .object:
            // A dictionary of Foundation takes canonically equivalent names for one, so its names are looked up.
            let others = theirs as? [String: Any] ?? [:]
            for (key, value) in members(ours) {
                #expect(ours.object?[key]?.offset == value.offset)
                if let other = others[key], others.count == ours.object?.count { expectAlike(value, other) }
            }
        }
    }

    private func expectAlike(_ left: JSONValue, _ right: JSONValue) {
        #expect(left.kind == right.kind)
        #expect(left.utf8 == right.utf8 && left.double == right.double && left.bool == right.bool)
        for (one, other) in zip(elements(left), elements(right)) {
            expectAlike(one, other)
        }
        #expect(left.array?.count == right.array?.count && left.object?.count == right.object?.count)
        for (key, value) in members(left) {
            if let other = right.object?[key] { expectAlike(value, other) } else { Issue.record("\(key) is missing") }
        }
    }

    private func rewrite(_ value: JSONValue, into writer: inout JSONArrayWriter) {
        switch value.kind {
        case .null: writer.null()
        case .boolean: writer.element(value.bool)
        case .string: writer.element(value.string)
        case .number: if let int64 = value.int64 { writer.element(int64) } else { writer.element(value) }
        case .array:
            writer.array { inner in for element in elements(value) { rewrite(element, into: &inner) }
            }
        case .object:
            writer.object { inner in
                for (key, value) in members(value) {
                    switch value.kind {
                    case .null: inner.null(key)
                    case .boolean: inner.member(key, value.bool)
                    case .string: inner.member(key, value.string)
                    default: inner.member(key, value)
                    }
                }
            }
        }
    }

    private func members(_ value: JSONValue) -> [(key: String, value: JSONValue)] {
        value.object.map { Array($0.members) } ?? []
    }

    private func elements(_ value: JSONValue) -> [JSONValue] {
        value.array.map { Array($0) } ?? []
    }

    private func holdsExtremeNumber(_ value: JSONValue) -> Bool {
        switch value.kind {
        case .number: value.int64 == nil
        case .array: value.array?.contains(where: holdsExtremeNumber) == true
        case .object: value.object?.members.contains { holdsExtremeNumber($0.value) } == true
        default: false
        }
    }
}
