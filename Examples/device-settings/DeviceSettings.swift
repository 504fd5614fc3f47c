import CanonicalSync
import CanonicalSyncToolSupport
import Foundation

/// Replays the life of a meter app's settings on two devices, and prints the results.
@main
enum DeviceSettings {
  static func main() async {
    let options = StoryOptions()
    let interrupt = Interrupt(on: [SIGINT, SIGTERM]) {}
    do throws(SyncError) {
      let folder = try StoreFolder(options.stores)
      let code = try await tell(in: folder, options, interrupt)
      folder.remove()
      code.endProcess()
    } catch {
      error.tell(by: "device-settings", isJSON: options.isJSON)
      ExitCode.failure.endProcess()
    }
  }

  private static func tell(
    in folder: StoreFolder, _ options: StoryOptions, _ interrupt: Interrupt
  ) async throws(SyncError) -> ExitCode {
    do throws(SyncError) {
      let stage = try await Stage.set(in: folder)
      var ending: [(key: String, value: JSON)] = []
      for chapter in Chapter.all {
        if interrupt.hasCome {
          if options.isJSON { stage.output.line(JSON.cancelled) }
          return .interrupted
        }
        stage.output.line("\n\(chapter.title)\n")
        ending.append((chapter.name, try await chapter.tell(stage)))
      }
      ending.append(("conflicts", try await stage.conflicts()))
      await stage.close()
      for line in folder.suggestions { stage.output.line(line) }
      if options.isJSON { stage.output.line(JSON.object(ending)) }
      return .success
    } catch {
      folder.remove()
      throw error
    }
  }
}
