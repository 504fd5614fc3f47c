import CanonicalSync
import CanonicalSyncToolSupport
import SyncPictures
import SyncSimulation

/// The file of a picture, which `--picture` names.
struct Drawing {
  private let file: PageFile

  /// Names the file, before any world runs.
  ///
  /// - Throws: `invalidConfiguration` if its folder is missing, or it is something else than an
  ///   earlier picture.
  init(_ path: String) throws(SyncError) {
    file = try PageFile(path: path, of: "picture", startingWith: WorldPicture.beginning)
  }

  /// Draws a world.
  func draw(_ recording: Recording, _ simulation: Simulation) throws(SyncError) {
    try draw(simulation.picture(of: recording))
  }

  /// Writes a picture, and its caption to standard error.
  func draw(_ picture: WorldPicture) throws(SyncError) {
    try file.write(picture.page)
    StandardStream.output.flush()
    StandardStream.error.line("simulate: \(picture.caption)")
    StandardStream.error.line("simulate: the picture is in \(file.path)")
  }

  /// Says that there is no world to draw.
  func isUnused() {
    StandardStream.error.line("simulate: no world broke a promise, so nothing is drawn; --seed N draws one")
  }
}
