import CanonicalSyncPages
import SyncCore
import SyncModels
import SyncSimulation

/// The page of a picture.
struct PicturePage {
  let model: PictureModel

  /// What the page is.
  static let kind = "A picture of a simulated world, by CanonicalSync."
  /// The most steps that the page lists.
  static let mostSteps = 500
  /// The size in bytes from which a step is shortened. With all steps, a page stays below 2 MB.
  private static let longStep = 3000

  var markup: String {
    let promise = model.caption.violation?.promise
    let title = promise.map { "Broken: \($0.sentence)" } ?? "A world in which no promise was broken"
    var page = WebPage(
      kind: Self.kind, title: title, heading: "\(title)", mood: promise == nil ? "good" : "bad",
      summary: summary,
      parts: [story, steps] + (model.others.isEmpty ? [] : [others]) + [world],
      footer:
        "<p>Written by SyncSimulation \(LibraryVersion.current). Times are those of the world, from its start.</p>",
      sheet: PictureStyle.sheet)
    page.skip = "Skip to what happened"
    return page.markup
  }

  private var summary: HTML {
    guard let violation = model.caption.violation else {
      return "<p>\(Counted(model.steps.count, "step")), up to the comparison of store and remote.</p>\n"
    }
    return "<p><code>\(violation.promise.rawValue)</code>: \(violation.words.shortened(to: 600))</p>\n"
  }

  // MARK: Parts

  private var story: WebPage.Part {
    let caption = model.caption
    let groups: [(String, [Sentence])] = [
      ("Before", caption.before), ("The step", caption.step), ("In the end", caption.after),
    ]
    let lists = groups.filter { !$0.1.isEmpty }.map { title, sentences -> HTML in
      """
      <dt>\(title)</dt>
      <dd><ul>
      \(sentences.map { sentence -> HTML in "<li>\(HTML.prose(sentence.text)) \(link(to: sentence.step))</li>\n" })</ul></dd>

      """
    }
    return WebPage.Part(
      anchor: "story", title: "What happened",
      content:
        "<dl class=\"story\">\n\(lists)</dl>\n\(model.steps.isEmpty ? "" : PictureLayout(model).drawing)")
  }

  private func link(to index: Int?) -> HTML {
    guard let index else { return "" }
    return "<a href=\"#step-\((index + 1).plain)\">step \((index + 1).plain)</a>"
  }

  private var steps: WebPage.Part {
    let items = model.runs(atMost: Self.mostSteps).map { run -> HTML in
      switch run {
      case .step(let step): item(step)
      case .quiet(let steps):
        """
        <li>
        \(HTML.details("\(Counted(steps.count, "step")) without an effect on records", "<ol class=\"steps\">\n\(steps.map(item))</ol>\n"))</li>

        """
      case .omitted(let count):
        "<li class=\"omitted\">… \(Counted(count, "step is", "steps are")) left out …</li>\n"
      }
    }
    let content: HTML =
      model.steps.isEmpty ? "<p>The world had no step.</p>\n" : "<ol class=\"steps\">\n\(items)</ol>\n"
    return WebPage.Part(anchor: "steps", title: "Step by step", content: content)
  }

  private func item(_ step: PictureModel.Step) -> HTML {
    let whole = item(step, step.event.words.split(separator: "\n").map { String($0).shortened(to: 700) })
    if whole.size <= Self.longStep { return whole }
    return item(step, step.event.words.split(separator: "\n").prefix(5).map { String($0).shortened(to: 80) })
  }

  private func item(_ step: PictureModel.Step, _ lines: [String]) -> HTML {
    let rest = lines.dropFirst().map { line -> HTML in "<li>\(line)</li>\n" }
    // A sentence that only repeats the step is in the caption alone.
    let notes = step.sentences.filter { !$0.hasPrefix("At ") && !$0.hasPrefix("The check found") }.map {
      text -> HTML in "<p class=\"note\">\(HTML.prose(text))</p>\n"
    }
    let mood: HTML = step.event.kind == .broken ? " class=\"broken\"" : step.isCited ? " class=\"cited\"" : ""
    return """
      <li id="step-\(step.number.plain)"\(mood)>
      <p>\(step.event.kind.glyph) <span class="quiet">\(step.number.plain) · \(step.event.time.told)</span> \
      <b>\(step.event.who == "!!" ? "broken" : step.event.who)</b> \(lines.first ?? "")</p>
      \(rest.isEmpty ? "" : "<ul>\n\(rest)</ul>\n" as HTML)\(notes)\(step.isCited ? neighbours(of: step) : "")</li>

      """
  }

  /// Links to the steps of the caption before and after one.
  private func neighbours(of step: PictureModel.Step) -> HTML {
    let cited = model.steps.filter(\.isCited).map(\.number)
    let before = cited.last { $0 < step.number }
    let after = cited.first { $0 > step.number }
    let links = [
      before.map { number -> HTML in
        "<a href=\"#step-\(number.plain)\">previous of these: \(number.plain)</a>"
      },
      after.map { number -> HTML in "<a href=\"#step-\(number.plain)\">next of these: \(number.plain)</a>" },
    ].compactMap(\.self)
    return links.isEmpty ? "" : "<p class=\"ways\">\(HTML(links, separator: " · "))</p>\n"
  }

  private var others: WebPage.Part {
    let items = model.others.map { violation -> HTML in
      "<li><code>\(violation.promise.rawValue)</code>: \(violation.words.shortened(to: 600))</li>\n"
    }
    return WebPage.Part(anchor: "others", title: "Broken after that", content: "<ul>\n\(items)</ul>\n")
  }

  private var world: WebPage.Part {
    let hazards = model.hazards.isEmpty ? "none" : model.hazards.joined(separator: ", ")
    return WebPage.Part(
      anchor: "world", title: "The world",
      content: """
        <p>Its hazards: \(hazards). It is decided by \(Counted(model.recording.choices.count, "choice")).</p>
        \(HTML.details("Its recording, for <code>simulate --replay</code>", "<pre>\(model.recording.text.shortened(to: 100_000))</pre>\n"))
        """)
  }
}
