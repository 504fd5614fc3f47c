/// A time zone of North America, with the rules of 2007 to 2025.
///
/// It does not use the system's tables, which differ between machines.
struct Zone: Hashable {
  let name: String

  /// The instant of a local time, in ISO 8601 and UTC.
  func instant(of day: Day, at minute: Int) -> String {
    let utc = day.number * 1440 + minute - offset(on: day)
    let time = utc % 1440
    return "\(Day(number: utc / 1440))T\(twoDigits(time / 60)):\(twoDigits(time % 60)):00Z"
  }

  /// Minutes ahead of UTC in the afternoon of a day.
  private func offset(on day: Day) -> Int {
    let year = day.date.year
    let summer = Day(year, 3, 8).sunday..<Day(year, 11, 1).sunday
    return (standardHours + (name != "America/Phoenix" && summer.contains(day) ? 1 : 0)) * 60
  }

  private var standardHours: Int {
    switch name {
    case "America/Chicago", "America/Winnipeg": -6
    case "America/Denver", "America/Edmonton", "America/Phoenix": -7
    case "America/Los_Angeles", "America/Vancouver": -8
    default: -5
    }
  }
}
