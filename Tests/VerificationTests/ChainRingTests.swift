import Testing

@testable import Verification

/// What is remembered, and what has to leave for it. Seen from outside a forgotten answer is only slower.
@Suite struct ChainRingTests {
    /// Two bytes a key; a number above 0 is an answer that somebody trusted stands behind.
    private let cache = ChainCache<Int> { $0 > 0 }

    @Test func whatAnybodyCanMakeDrivesNoGoodAnswerOut() throws {
        #expect(try ask(0, answer: 1))
        #expect(try ask(1, answer: 2))
        for number in 2..<1_000 { #expect(try ask(UInt16(number), answer: 0)) }
        for number in 1_000..<2_000 { #expect(try ask(UInt16(number), answer: nil)) }
        #expect(try !ask(0, answer: 1))
        #expect(try !ask(1, answer: 2))
    }

    @Test func eachRingForgetsItsOldest() throws {
        for number in 0...ChainCache<Int>.goodMax { #expect(try ask(UInt16(number), answer: 1)) }
        #expect(try ask(0, answer: 1))
        for number in 100...(100 + ChainCache<Int>.badMax) { #expect(try ask(UInt16(number), answer: nil)) }
        #expect(try ask(100, answer: nil))
        #expect(try !ask(UInt16(100 + ChainCache<Int>.badMax), answer: nil))
    }

    /// - Returns: whether it had to be judged.
    private func ask(_ number: UInt16, answer: Int?) throws -> Bool {
        var isJudged = false
        let key = [UInt8(number >> 8), UInt8(number & 0xFF)]
        do throws(Refusal) {
            let found = try cache.answer(for: key[...]) { () throws(Refusal) in
                isJudged = true
                guard let answer else { throw Refusal(.untrustedRoot) }
                return answer
            }
            #expect(found == answer)
        } catch {
            #expect(answer == nil)
        }
        return isJudged
    }
}
