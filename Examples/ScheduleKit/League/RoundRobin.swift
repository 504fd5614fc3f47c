/// A round-robin schedule: every team meets every other before it meets any again.
///
/// In each round every team has one opponent.
struct RoundRobin {
  /// A pairing of two teams, by their indexes.
  struct Pairing: Hashable {
    var home: Int
    var away: Int
  }

  /// The number of teams; even.
  let count: Int

  /// The pairings of a round, by the circle method.
  ///
  /// Home and away alternate for each team except for one step in a cycle, and are exchanged with
  /// each cycle. After any number of rounds, a team's home games exceed its away games, or the
  /// reverse, by at most two.
  func pairings(in round: Int) -> [Pairing] {
    let circle = count - 1
    let (cycle, turn) = round.quotientAndRemainder(dividingBy: circle)
    return (0..<count / 2).map { step in
      let one = (turn + step) % circle
      let other = step == 0 ? circle : (turn - step + circle) % circle
      let oneIsHome = (step == 0 ? turn : step) % 2 == 1
      return oneIsHome != (cycle % 2 == 1) ? Pairing(home: one, away: other) : Pairing(home: other, away: one)
    }
  }
}
