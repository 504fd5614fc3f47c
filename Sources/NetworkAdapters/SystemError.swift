import Foundation

/// The error of a system call.
struct SystemError: Error, CustomStringConvertible {
  var number: Int32

  var description: String { String(cString: strerror(number)) }
}
