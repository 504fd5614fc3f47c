/// A day of the calendar, counted from 1970-01-01.
struct Day: Hashable, Comparable, Strideable, CustomStringConvertible {
  let number: Int

  init(number: Int) { self.number = number }

  /// The day of a date, by the Gregorian calendar.
  init(_ year: Int, _ month: Int, _ day: Int) {
    // Years begin in March, so a leap day is the last day of its year.
    let years = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    number = 365 * years + years / 4 - years / 100 + years / 400 + dayOfYear - 719_468
  }

  /// The year, month and day of the month.
  var date: (year: Int, month: Int, day: Int) {
    let shifted = number + 719_468
    let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = (monthFromMarch + 2) % 12 + 1
    let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }

  /// Days since the last Sunday.
  var weekday: Int { (number + 4) % 7 }

  /// The first Sunday on or after the day.
  var sunday: Day { advanced(by: (7 - weekday) % 7) }

  /// The date in ISO 8601.
  var description: String {
    let (year, month, day) = date
    return "\(year)-\(twoDigits(month))-\(twoDigits(day))"
  }

  func distance(to other: Day) -> Int { other.number - number }
  func advanced(by days: Int) -> Day { Day(number: number + days) }
}

/// A number below a hundred, in two digits.
func twoDigits(_ number: Int) -> String {
  number < 10 ? "0\(number)" : "\(number)"
}
