import CanonicalSyncToolSupport

/// The options of the command line.
struct StoryOptions {
  let stores: String?
  let isJSON: Bool

  /// Parses the command line.
  ///
  /// After a request for help, or a mistake, it prints an answer and ends the process.
  init() {
    let stores = Option<String?>.text(
      "stores", "DIR", "keep the devices' stores in a directory, to look into; it must not hold any yet")
    let json = Option<Bool>.flag(
      "json", "end with one JSON object: what the stores and the remote hold in the end")
    let command = Command(
      "device-settings",
      "Shows how two devices agree on the settings of one app, with the library doing all the work.",
      options: [stores, json],
      examples: [
        ("device-settings", "the story"),
        ("device-settings --stores phones", "the story, and two stores for sync-inspect"),
      ])
    let arguments = command.argumentsOrExit()
    self.stores = arguments[stores]
    self.isJSON = arguments[json]
  }
}
