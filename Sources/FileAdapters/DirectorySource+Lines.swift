public import SyncModels

extension DirectorySource {
  /// Finds the current line numbers of records, for a person who is to correct them.
  ///
  /// Lines are numbered from 1. A record whose id repeats has all of its lines. A record without a
  /// line, or without its file, is left out.
  ///
  /// - Throws: The errors of ``page(_:)``. A failure changes nothing.
  /// - Complexity: O(*n*) in the bytes of the records' files, which are read again.
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
    // Only the keys are needed.
    let page = PageRequest(entity: Entity(type), position: .start(since: nil), limit: .max, pass: 0)
    let reader = LineReader(page, of: file)
    do {
      guard let (descriptor, stamp) = try file.open(mayBeMissing: true) else { return }
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
