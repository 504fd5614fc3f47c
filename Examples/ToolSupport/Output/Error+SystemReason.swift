import Foundation

extension Error {
  /// Why the system refused, in its own words, without Foundation's domains and numbers.
  package var systemReason: String {
    let error = self as NSError
    let cause = (error.userInfo[NSUnderlyingErrorKey] as? NSError) ?? error
    if cause.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(cause.code))) }
    switch CocoaError.Code(rawValue: error.code) {
    case .fileWriteOutOfSpace: return String(cString: strerror(ENOSPC))
    case .fileWriteNoPermission, .fileReadNoPermission: return String(cString: strerror(EACCES))
    case .fileWriteVolumeReadOnly: return String(cString: strerror(EROFS))
    case .fileNoSuchFile, .fileReadNoSuchFile: return String(cString: strerror(ENOENT))
    default: return "the system refused it"
    }
  }
}
