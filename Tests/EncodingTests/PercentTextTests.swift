import Encoding
import Testing

@Suite struct PercentTextTests {
    @Test(
        arguments: [
            (0, "0 %"), (1, "0.001 %"), (40_000, "40 %"), (67_932, "67.932 %"), (67_930, "67.93 %"), (100_000, "100 %"),
        ]
    )
    func aPartHasNoZerosAtItsEnd(thousandths: Int, text: String) {
        #expect(PercentText.text(thousandths: thousandths) == text)
    }
}
