import SyncModels

extension PageMerge {
  /// Notes those of some copies that say they were edited further ahead of the local clock than the bound allows.
  mutating func noteClocks(of records: [Record]) {
    guard let name = entity.stampMember else { return }
    let limit = context.now + context.edits.maximumClockSkew
    // Most copies carry no stamp, and are told by their bytes alone.
    for record in records where record.payload.mentions(name) {
      guard let stamp = entity.statedStamp(in: record.payload), stamp.physical > limit else { continue }
      tally.noteClock(of: record.id, ahead: stamp.physical.duration(since: context.now))
    }
  }
}
