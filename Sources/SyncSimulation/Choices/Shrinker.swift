import SyncModels

extension Simulation {
  /// Searches for a smaller world that breaks the same promise first.
  ///
  /// Choices are cut off the end, removed and set to zero, in ever smaller pieces, while the
  /// promise remains broken.
  ///
  /// - Parameters:
  ///   - recording: A world that breaks a promise. Any other world is returned unchanged.
  ///   - attempts: The most worlds to try.
  ///   - goesOn: Called before each world. `false` ends the search with the smallest world so far.
  public func shrink(
    _ recording: Recording, attempts: Int = 2000, while goesOn: () -> Bool = { true }
  ) -> Recording {
    guard let promise = replay(recording).violations.first?.promise else { return recording }
    return withoutActuallyEscaping(goesOn) { goesOn in
      shrink(recording, breaking: promise, attempts, while: goesOn)
    }
  }

  private func shrink(
    _ recording: Recording, breaking promise: Promise, _ attempts: Int, while goesOn: @escaping () -> Bool
  ) -> Recording {
    var shrinker = Shrinker(best: recording.choices, attemptsLeft: attempts, goesOn: goesOn) { choices in
      var smaller = recording
      smaller.choices = choices
      return replay(smaller).violations.first?.promise == promise
    }
    shrinker.run()
    var smallest = recording
    (smallest.choices, smallest.version) = (shrinker.best, LibraryVersion.current)
    return smallest
  }
}

/// Makes a list of choices smaller while it still fails.
struct Shrinker {
  private(set) var best: [UInt32]
  private var attemptsLeft: Int
  private let goesOn: () -> Bool
  private let fails: ([UInt32]) -> Bool

  init(
    best: [UInt32], attemptsLeft: Int, goesOn: @escaping () -> Bool, fails: @escaping ([UInt32]) -> Bool
  ) {
    self.best = best
    self.attemptsLeft = attemptsLeft
    self.goesOn = goesOn
    self.fails = fails
  }

  /// Shrinks until no step helps, or the attempts are used up.
  mutating func run() {
    cutEnd()
    var before: [UInt32]
    repeat {
      before = best
      var size = max(1, best.count / 2)
      while size > 0, attemptsLeft > 0 {
        pass(size)
        size /= 2
      }
      lower()
    } while before != best && attemptsLeft > 0
  }

  private mutating func attempt(_ candidate: [UInt32]) -> Bool {
    var candidate = candidate
    while candidate.last == 0 { candidate.removeLast() }
    guard attemptsLeft > 0, candidate != best else { return false }
    guard goesOn() else {
      attemptsLeft = 0
      return false
    }
    attemptsLeft -= 1
    guard fails(candidate) else { return false }
    best = candidate
    return true
  }

  /// Cuts as much as possible off the end, by halves.
  private mutating func cutEnd() {
    var (short, long) = (0, best.count)
    while short < long, attemptsLeft > 0 {
      let middle = (short + long) / 2
      if attempt(Array(best.prefix(middle))) {
        long = min(middle, best.count)
      } else {
        short = middle + 1
      }
    }
  }

  /// Removes pieces, or sets them to zero.
  private mutating func pass(_ size: Int) {
    var end = best.count
    while end > 0, attemptsLeft > 0 {
      // The best list so far may be shorter now.
      let bound = min(end, best.count)
      let piece = max(0, bound - size)..<bound
      if !piece.isEmpty {
        var without = best
        without.removeSubrange(piece)
        if !attempt(without), best[piece].contains(where: { $0 != 0 }) {
          var zeroed = best
          for place in piece { zeroed[place] = 0 }
          _ = attempt(zeroed)
        }
      }
      end = piece.lowerBound
    }
  }

  /// Halves the remaining numbers.
  private mutating func lower() {
    for place in best.indices.reversed() where place < best.count && best[place] > 1 {
      var lower = best
      lower[place] /= 2
      _ = attempt(lower)
    }
  }
}
