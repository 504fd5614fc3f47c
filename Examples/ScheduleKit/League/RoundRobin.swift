/// Who meets whom: everybody meets somebody in each round, and everybody else before anybody twice.
struct RoundRobin {
  /// A pairing, by the teams' places.
  struct Pairing: Hashable {
    var home: Int
    var away: Int
  }

  /// How many there are; even.
  let count: Int

  /// The pairings of a round, by the circle method.
  ///
  /// Home and away alternate for each of them but for one step in a cycle, and turn over with each cycle, so after any
  /// number of rounds nobody has been at home more than twice more, or fewer, than away.
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
