import CanonicalSyncPages
import SyncCore
import SyncModels
import SyncSimulation

extension WorldEvent.Kind {
  /// What a mark stands for.
  var meaning: String {
    switch self {
    case .write: "the remote changes"
    case .edit: "the app edits"
    case .page: "a page arrives"
    case .push: "an edit is pushed"
    case .commit: "the store commits"
    case .fault: "a fault"
    case .crash: "a process is killed"
    case .stop: "a stop or a cancellation"
    case .clock: "a clock is set"
    case .lease: "a lease"
    case .life: "a process starts"
    case .sync: "the end of a sync"
    case .world: "the world changes"
    case .broken: "a promise breaks"
    case .note: "other"
    }
  }

  /// The shape around the origin, 14 wide: shapes differ, because colours alone are not enough.
  var shape: String {
    switch self {
    case .write: "M-6-6H6V6H-6Z"
    case .edit: "M0-7L7 0 0 7-7 0Z"
    case .page: "M-7-5H7L0 7Z"
    case .push: "M-7 5H7L0-7Z"
    case .commit: "M-6 0A6 6 0 1 0 6 0A6 6 0 1 0-6 0Z"
    case .fault: "M-6-6L6 6M6-6L-6 6"
    case .crash: "M-7-7L7 7M7-7L-7 7M0-9V9M-9 0H9"
    case .stop: "M-4-7V7M4-7V7"
    case .clock: "M-6 0A6 6 0 1 0 6 0A6 6 0 1 0-6 0ZM0-5V0H4"
    case .lease: "M-6 3V-3H6V3ZM-3-3V-7H3V-3"
    case .life: "M-5-6L6 0-5 6Z"
    case .sync: "M0-7V7"
    case .world: "M-7 0H7M3-4L7 0 3 4"
    case .broken: "M0-9L2.5-3 9-3 4 1 6 8 0 4-6 8-4 1-9-3-2.5-3Z"
    case .note: "M-2 0H2"
    }
  }

  /// The mark beside a text.
  var glyph: HTML {
    """
    <svg class="glyph" viewBox="-10 -10 20 20" aria-hidden="true"><path class="\(rawValue)" d="\(shape)"/></svg>
    """
  }
}

extension PictureLayout {
  /// The picture.
  ///
  /// Only the steps of the caption can be reached by the keyboard; a click on any mark leads to its
  /// step.
  var drawing: HTML {
    let lanes = self.lanes.map { lane -> HTML in
      """
      <path class="line" d="M84 \(lane.y.plain)H\((width - 14).plain)"/>\
      <text x="4" y="\((lane.y + 5).plain)">\(lane.name)</text>

      """
    }
    let gaps = self.gaps.map { gap -> HTML in
      "<text class=\"quiet\" x=\"\(gap.x.plain)\" y=\"\((height - 30).plain)\"><title>\(Counted(gap.count, "step")) without an effect, or left out</title>…</text>\n"
    }
    let times = self.times.map { time -> HTML in
      "<text class=\"quiet\" x=\"\((time.x - 8).plain)\" y=\"\((height - 6).plain)\">\(time.text)</text>\n"
    }
    return """
      <figure>
      <div class="scroll" role="region" tabindex="0" aria-label="The world in time">
      <svg class="world" role="group" aria-label="Lanes of the world, with a mark for each step" \
      width="\(width.plain)" height="\(height.plain)" viewBox="0 0 \(width.plain) \(height.plain)">
      \(lanes)\(marks.map(markup))\(gaps)\(times)</svg>
      </div>
      <figcaption>Time goes to the right, not to scale: a column is a step. … stands for steps without an effect.</figcaption>
      \(legend)</figure>

      """
  }

  private func markup(_ mark: Mark) -> HTML {
    let step = mark.step
    let band: HTML =
      step.isCited || step.event.kind == .broken
      ? """
      <rect class="\(step.event.kind == .broken ? "band broken" : "band")" x="\((mark.x - 13).plain)" y="20" width="26" height="\((height - 62).plain)"/>
      """ : ""
    let link: HTML =
      mark.from.map { "<path class=\"link\" d=\"M\(mark.x.plain) \($0.plain)V\(mark.y.plain)\"/>" } ?? ""
    let number: HTML =
      step.isCited
      ? "<text class=\"number\" text-anchor=\"middle\" x=\"\(mark.x.plain)\" y=\"15\">\(step.number.plain)</text>"
      : ""
    let title = "Step \(step.number): \(step.event.who) \(step.event.words)".shortened(to: 300)
    let shape: HTML =
      "<path class=\"\(step.event.kind.rawValue)\" transform=\"translate(\(mark.x.plain) \(mark.y.plain))\" d=\"\(step.event.kind.shape)\"/>"
    let focus: HTML = step.isCited ? "" : " tabindex=\"-1\""
    return """
      \(band)<a href="#step-\(step.number.plain)"\(focus)><title>\(title)</title>\(link)\(number)\(shape)</a>

      """
  }

  private var legend: HTML {
    let used = Set(marks.map(\.step.event.kind))
    let items = WorldEvent.Kind.allCases.filter(used.contains).map { kind -> HTML in
      "<li>\(kind.glyph) \(kind.meaning)</li>\n"
    }
    return "<ul class=\"legend\">\n\(items)</ul>\n"
  }
}

extension Int {
  /// The digits alone.
  var plain: String { String(self) }
}
