import Encoding
import Testing

/// Against the transitions that the tz database (2025b, America/Los_Angeles) gives for these years.
struct PacificTimeTests {
    /// Seconds since 1970: when summer time begins, and when it ends.
    static let summers: [(begins: Int64, ends: Int64)] = [
        (544_615_200, 562_150_800), (923_220_000, 941_360_400), (954_669_600, 972_810_000),
        (1_143_972_000, 1_162_112_400), (1_173_607_200, 1_194_166_800), (1_205_056_800, 1_225_616_400),
        (1_300_010_400, 1_320_570_000), (1_362_909_600, 1_383_469_200), (1_425_808_800, 1_446_368_400),
        (1_552_212_000, 1_572_771_600), (1_583_661_600, 1_604_221_200), (1_710_064_800, 1_730_624_400),
        (1_741_514_400, 1_762_074_000), (1_772_964_000, 1_793_523_600), (1_805_018_400, 1_825_578_000),
        (1_899_367_200, 1_919_926_800), (2_088_669_600, 2_109_229_200), (2_120_119_200, 2_140_678_800),
        (2_152_173_600, 2_172_733_200), (2_341_476_000, 2_362_035_600), (2_846_484_000, 2_867_043_600),
        (4_076_647_200, 4_097_206_800),
    ]

    @Test(arguments: summers)
    func summerBeginsAndEndsOnTheSecond(_ summer: (begins: Int64, ends: Int64)) {
        let rows: [(Int64, Int64)] = [
            (summer.begins - 1, -28_800), (summer.begins, -25_200), (summer.ends - 1, -25_200), (summer.ends, -28_800),
            (summer.begins - 40 * 86_400, -28_800), (summer.begins + 40 * 86_400, -25_200),
            (summer.ends + 40 * 86_400, -28_800),
        ]
        for (second, offset) in rows { #expect(PacificTime.offset(at: second * 1_000) == offset, "\(second)") }
    }

    @Test(arguments: [Int64.min, -62_167_219_200_001, -1, 0, 253_402_300_800_000, .max])
    func everyMomentHasAnOffset(_ milliseconds: Int64) {
        #expect(PacificTime.offset(at: milliseconds) == -28_800)
    }
}
