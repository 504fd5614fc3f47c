/// The time that a check waits for another task.
package enum Patience {
  /// Long enough for a busy machine. The limit is reached only if the awaited event never comes.
  @TaskLocal package static var limit = Duration.seconds(300)
  /// For an event that some correct stores delay until the wait is over.
  @TaskLocal package static var brief = Duration.seconds(1)

  /// Waits for a condition; `false` after the limit, or when the task is cancelled.
  package static func lasts(until isSo: () -> Bool) async -> Bool {
    await lasts(until: isSo, meanwhile: {})
  }

  /// Waits for a condition, and repeats an action meanwhile.
  static func lasts(until isSo: () -> Bool, meanwhile act: () -> Void) async -> Bool {
    let end = ContinuousClock.now.advanced(by: limit)
    var turns = 0
    while !isSo() {
      if ContinuousClock.now >= end || Task.isCancelled { return isSo() }
      act()
      turns += 1
      if turns < 500 {
        await Task.yield()
      } else {
        // It throws only when the task is cancelled, which ends the loop.
        try? await ContinuousClock().sleep(for: .milliseconds(1))
      }
    }
    return true
  }
}
