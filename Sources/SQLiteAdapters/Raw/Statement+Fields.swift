#if SQLite
  import CSQLite
  import SyncModels

  // SQLite orders NULL, numbers, texts and blobs in this order, each among themselves as field values are ordered: so an
  // index over the columns is an index over the values, and a comparison in SQL is a comparison of values.
  extension Statement {
    /// Binds a field's value in the form in which columns hold it.
    func bind(_ value: FieldValue, at index: Int32) throws(SyncError) {
      switch value {
      case .null: try bindNull(at: index)
      case .integer(let value): try bind(value, at: index)
      case .double(let value): try bind(value, at: index)
      case .string(let value): try bind(value, at: index)
      case .boolean(let value): try bind([value ? 1 : 0], at: index)
      case .composite: try bind([2], at: index)
      }
    }

    /// The field's value that a column holds.
    func fieldValue(_ column: Int32) -> FieldValue {
      let value = value(column)
      switch value.type {
      case SQLITE_INTEGER: return .integer(value.integer)
      case SQLITE_FLOAT: return .double(value.double)
      case SQLITE_TEXT: return .string(text(column))
      case SQLITE_BLOB:
        return value.withBytes { bytes in
          if bytes.elementsEqual([2]) { .composite } else { .boolean(bytes.elementsEqual([1])) }
        }
      default: return .null
      }
    }
  }
#endif
