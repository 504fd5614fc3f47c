#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  // SQLite orders NULL, numbers, texts and blobs in this order. Within each type its order is that
  // of field values. An index over the columns is therefore an index over the values, and SQL
  // comparisons compare values.
  extension Statement {
    /// Binds a field's value in the form in which columns store it.
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

    /// Reads a field's value from a column.
    func fieldValue(_ column: Int) -> FieldValue {
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
