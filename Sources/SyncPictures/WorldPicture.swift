import CanonicalSyncPages
public import SyncSimulation

/// A world as a page for a person: what happened, step by step, and what broke.
///
/// ```swift
/// let outcome = simulation.run(seed: 7)
/// let picture = simulation.picture(of: simulation.shrink(outcome.recording))
/// try Data(picture.page.utf8).write(to: file, options: .atomic)
/// ```
public struct WorldPicture: Sendable {
  /// What led to the broken promise, what broke it, and what followed.
  ///
  /// It is made from the events alone, and says so if no promise broke. Words between backticks are
  /// ids and contents.
  public let caption: String
  /// The page: one HTML file, which loads nothing and runs no script.
  ///
  /// It has lanes for the remote, each process and the store, with a mark for each step, and lists
  /// the steps. Of a world with thousands of steps it leaves out those that are far from the ones
  /// that the caption names, so that it stays below two megabytes.
  public let page: String

  /// The first lines of each such page, by which a file is recognized.
  public static let beginning = WebPage.beginning(of: PicturePage.kind)

  init(_ outcome: Outcome) {
    let model = PictureModel(outcome)
    caption = model.caption.text
    page = PicturePage(model: model).markup
  }
}

extension Simulation {
  /// Replays a world, and draws it.
  ///
  /// A world that breaks no promise is drawn as well. Make a broken one smaller first, by
  /// ``SyncSimulation/Simulation/shrink(_:attempts:while:)``.
  public func picture(of recording: Recording) -> WorldPicture {
    WorldPicture(replay(recording, keepsTimeline: true))
  }
}
