#if SQLite
  extension LogHeader {
    /// Restores a frame with one flipped bit.
    ///
    /// The checksum is a linear function of words of four bytes. An error in one of them changes
    /// its two numbers by the error times two neighbouring Fibonacci numbers, which depend on the
    /// word's place. So the two differences tell the place and the bit, but for the ten highest
    /// bits of a word, where several places come into question.
    ///
    /// - Parameter checksum: The checksum of the log before the frame.
    /// - Returns: The bytes that the frame was written with; `nil` if more is damaged, if several
    ///   bits may be the damaged one, or if the bit is in the checksum or in the last word of the
    ///   page, which look alike.
    func mended(_ frame: [UInt8], after checksum: LogChecksum) -> [UInt8]? {
      // The salts are no part of the checksum. Those of an earlier generation differ in more.
      let flipped = zip(frame[8..<16], salts).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
      guard flipped <= 1 else { return nil }
      let (stated, counted) = (LogChecksum(storedIn: frame[16..<24]), checksum.addingFrame(frame, order))
      var mended = frame
      if flipped == 1 {
        mended.replaceSubrange(8..<16, with: salts)
        return counted == stated ? mended : nil
      }
      guard let (place, word) = soleError(in: frame, counted: counted, stated: stated) else { return nil }
      mended.set(word, at: place, order)
      return mended
    }

    /// Finds the only word whose change of one bit explains a checksum.
    ///
    /// - Returns: The word's place, and what it was.
    private func soleError(
      in frame: [UInt8], counted: LogChecksum, stated: LogChecksum
    ) -> (place: Int, word: UInt32)? {
      var (a, b) = (stated.a &- counted.a, stated.b &- counted.b)
      if a == 0 || b == 0 { return nil }
      var found: (Int, UInt32)?
      let pairs = [0] + stride(from: Self.frameSize, to: frame.count, by: 8)
      for pair in pairs.reversed() {
        // An error in the first word of a pair is added to both numbers, one in the second to `b`.
        if a == b || a == 0 {
          let place = a == b ? pair : pair + 4
          let word = frame.word(at: place, order)
          if (word ^ (word &+ b)).nonzeroBitCount == 1 {
            if found != nil { return nil }
            found = (place, word &+ b)
          }
        }
        // What the differences were before the pair.
        (a, b) = (2 &* a &- b, b &- a)
      }
      return found
    }
  }

  extension [UInt8] {
    fileprivate func word(at place: Int, _ order: LogChecksum.Order) -> UInt32 {
      order == .highestFirst ? number(at: place) : number(at: place).byteSwapped
    }

    fileprivate mutating func set(_ word: UInt32, at place: Int, _ order: LogChecksum.Order) {
      set(order == .highestFirst ? word : word.byteSwapped, at: place)
    }
  }
#endif
