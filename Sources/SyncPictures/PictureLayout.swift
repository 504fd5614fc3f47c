import SyncSimulation

/// Where the marks of a picture are: a column for each run of steps, a line for each lane.
struct PictureLayout: Sendable {
  /// A mark in its column.
  struct Mark: Sendable {
    let step: PictureModel.Step
    let x: Int
    let y: Int
    /// The other end of the line to another lane.
    let from: Int?
  }
  /// A time below the marks.
  struct Label: Hashable, Sendable {
    let x: Int
    let text: String
  }

  let marks: [Mark]
  /// The columns of steps that are not drawn one by one, and their number.
  let gaps: [(x: Int, count: Int)]
  let times: [Label]
  /// The heights of the lanes' lines.
  let lanes: [(name: String, y: Int)]
  let width: Int
  let height: Int

  /// The most columns.
  static let mostColumns = 150
  private static let (column, margin, row, top) = (28, 84, 40, 44)

  init(_ model: PictureModel) {
    let lanes = model.lanes.enumerated().map { (name: $1, y: Self.top + $0 * Self.row) }
    var marks: [Mark] = []
    var gaps: [(x: Int, count: Int)] = []
    var times: [Label] = []
    var x = Self.margin + Self.column / 2
    for run in model.runs(atMost: Self.mostColumns) {
      switch run {
      case .step(let step):
        marks.append(Mark(step: step, x: x, y: lanes[step.lane].y, from: step.otherLane.map { lanes[$0].y }))
        let text = step.event.time.toldBriefly
        if times.last.map({ $0.text != text && x - $0.x >= 3 * Self.column }) ?? true {
          times.append(Label(x: x, text: text))
        }
      case .quiet(let steps): gaps.append((x, steps.count))
      case .omitted(let count): gaps.append((x, count))
      }
      x += Self.column
    }
    (self.marks, self.gaps, self.times, self.lanes) = (marks, gaps, times, lanes)
    width = x + Self.column
    height = (lanes.last?.y ?? 0) + 48
  }
}

extension Duration {
  /// The time to the second or better, in a few characters.
  fileprivate var toldBriefly: String {
    let (seconds, attoseconds) = components
    if seconds < 100 { return "\(seconds).\(attoseconds / 100_000_000_000_000_000) s" }
    return seconds < 3600 ? "\(seconds) s" : "\(seconds / 3600) h \(seconds / 60 % 60) m"
  }
}
