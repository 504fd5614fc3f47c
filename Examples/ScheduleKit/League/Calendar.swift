import InMemoryAdapters

/// The days of a season on which there may be games.
struct Calendar {
  let days: [Day]

  /// Creates a calendar of every n-th day in a range, without days off.
  init(from first: Day, through last: Day, everyDays step: Int = 1, off: [ClosedRange<Day>] = []) {
    days = stride(from: first, through: last, by: step).filter { day in !off.contains { $0.contains(day) } }
  }
}

/// The local times at which games begin.
struct Hours {
  let weekday: [String]
  let weekend: [String]

  /// One of a day's hours, in minutes after midnight.
  func minute(on day: Day, using random: inout SplitMix64) -> Int {
    let hours = day.weekday == 0 || day.weekday == 6 ? weekend : weekday
    let parts = hours[random.number(below: hours.count)].split(separator: ":").compactMap { Int($0) }
    return parts[0] * 60 + parts[1]
  }
}
