import SyncModels
import Testing

@Suite("Metrics as text")
struct MetricTests {
  @Test func areGroupedByNameUnderHelpAndType() {
    let metrics = [
      Metric("b_total", .counter, "The second.", labels: [Metric.Label("type", "z")], value: 2),
      Metric("a_seconds", .gauge, "The first.", value: 1.5),
      Metric("b_total", .counter, "The second.", labels: [Metric.Label("type", "a")], value: 1e3),
    ]
    let text = """
      # HELP a_seconds The first.
      # TYPE a_seconds gauge
      a_seconds 1.5
      # HELP b_total The second.
      # TYPE b_total counter
      b_total{type="a"} 1000
      b_total{type="z"} 2

      """
    #expect(metrics.prometheusText == text)
    #expect(metrics.reversed().prometheusText == text)
    #expect([Metric]().prometheusText == "")
  }

  @Test func escapeWhatALabelHolds() {
    let label = Metric.Label("type", "a\"b\\c\nd")
    let metric = Metric("n", .gauge, "Back\\slash\nand \"quote\".", labels: [label], value: -0.25)
    #expect(
      [metric].prometheusText == #"""
        # HELP n Back\\slash\nand "quote".
        # TYPE n gauge
        n{type="a\"b\\c\nd"} -0.25

        """#)
  }

  @Test(arguments: [
    (Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (0, "0"), (1e300, "1e+300"),
    (9_007_199_254_740_991, "9007199254740991"),
  ])
  func spellEveryNumber(_ value: Double, _ text: String) {
    #expect([Metric("n", .gauge, "N.", value: value)].prometheusText.hasSuffix("\nn \(text)\n"))
  }
}
