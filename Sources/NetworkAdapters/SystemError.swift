import Foundation

/// What the system said to a call.
struct SystemError: Error, CustomStringConvertible {
  var number: Int32

  var description: String { String(cString: strerror(number)) }
}
