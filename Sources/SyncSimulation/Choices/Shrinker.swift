extension Simulation {
  /// Looks for a smaller world in which the same promise is broken first.
  ///
  /// Choices are cut off the end, left out and put to zero, in ever smaller pieces, as long as that breaks the promise.
  ///
  /// - Parameters:
  ///   - recording: A world that breaks a promise; any other is given back as it is.
  ///   - attempts: How many worlds may be tried.
  ///   - goesOn: Asked before each world; once it says `false`, the smallest one found so far is taken.
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
      let smaller = Recording(choices: choices, fault: recording.fault)
      return replay(smaller).violations.first?.promise == promise
    }
    shrinker.run()
    return Recording(choices: shrinker.best, fault: recording.fault)
  }
}

/// Makes a list of choices smaller, as long as it still fails.
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

  /// Shrinks until nothing helps any more, or the attempts are used up.
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

  /// Cuts as much off the end as can go, by halves.
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

  /// Leaves pieces out, or puts them to zero.
  private mutating func pass(_ size: Int) {
    var end = best.count
    while end > 0, attemptsLeft > 0 {
      // What was found meanwhile may be shorter.
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

  /// Halves what is left.
  private mutating func lower() {
    for place in best.indices.reversed() where place < best.count && best[place] > 1 {
      var lower = best
      lower[place] /= 2
      _ = attempt(lower)
    }
  }
}
