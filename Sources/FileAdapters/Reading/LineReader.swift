import SyncModels

/// Converts the lines of one page to changes.
struct LineReader {
  private let reader: RecordReader
  private let request: PageRequest
  private let name: String

  /// Creates a reader for a page of a file.
  init(_ request: PageRequest, of file: TypeFile) {
    self.request = request
    name = file.name
    reader = RecordReader(request.entity, layout: RecordLayout(modifiedAt: "updated_at", requiresTime: false))
  }

  /// The record of a line, or a malformed record with the reason.
  func change(of line: FileReading.Line, number: Int) -> RecordChange {
    switch line {
    case .whole(let bytes):
      // The pass number makes each scan's copies newer than the previous scan's, whatever their
      // times say.
      return reader.read(bytes, sequence: request.pass, location: location(number))
    case .tooLong(let prefix, let length):
      return .malformed(
        MalformedRecord(
          type: request.entity.type, bytes: Payload(prefix).detached(),
          reason: "has \(Counted(length, "byte")), too many for a record; only the beginning is kept",
          location: location(number)))
    }
  }

  private func location(_ number: Int) -> String { "\(name), line \(number)" }
}
