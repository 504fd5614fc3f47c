public import SyncModels

extension DirectorySource {
  /// Tells on which lines of their files records stand now, for a person who is to mend them.
  ///
  /// Lines are numbered from 1. A record whose id several lines share has all of these; one that no line has, or whose file is not
  /// there, is left out.
  ///
  /// - Throws: What ``page(_:)`` throws; nothing is changed by a failure.
  /// - Complexity: O(*n*) in the bytes of the records' files, which are read for it anew.
  public func lines(of ids: Set<RecordID>) async throws(SyncError) -> [RecordID: [Int]] {
    try await executor.run {
      Result { () throws(SyncError) in
        var lines: [RecordID: [Int]] = [:]
        for type in Set(ids.map(\.type)) { try self.search(for: ids, in: type, into: &lines) }
        return lines
      }
    }
  }

  private func search(
    for ids: Set<RecordID>, in type: RecordType, into lines: inout [RecordID: [Int]]
  ) throws(SyncError) {
    let file = try TypeFile(type, in: directory)
    // The keys are all that is looked at.
    let page = PageRequest(entity: Entity(type), position: .start(since: nil), limit: .max, pass: 0)
    let reader = LineReader(page, of: file)
    do {
      guard let (descriptor, stamp) = try file.open(unlessNeverSeenBy: nil) else { return }
      let survey = try FileSurvey(of: descriptor, prefixUpTo: 0)
      var reading = FileReading(descriptor, survey, stamp: stamp, limits: limits)
      while !reading.isAtEnd {
        try reading.readLines(limit: .max) { line, number in
          guard let id = reader.change(of: line, number: number).id, ids.contains(id) else { return }
          lines[id, default: []].append(number)
        }
      }
    } catch {
      throw file.error(error)
    }
  }
}
