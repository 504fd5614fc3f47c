/// How long a check waits for what another task has to do.
package enum Patience {
  /// Long enough for a machine that is busy with something else: it only passes where what is waited for never comes.
  @TaskLocal package static var limit = Duration.seconds(300)

  /// Waits until something is so; `false` when patience ran out, or when the task was cancelled.
  static func lasts(until isSo: () -> Bool) async -> Bool {
    await lasts(until: isSo, meanwhile: {})
  }

  /// Waits until something is so, and does something again and again meanwhile.
  static func lasts(until isSo: () -> Bool, meanwhile act: () -> Void) async -> Bool {
    let end = ContinuousClock.now.advanced(by: limit)
    while !isSo() {
      if ContinuousClock.now >= end || Task.isCancelled { return isSo() }
      act()
      await Task.yield()
    }
    return true
  }
}
