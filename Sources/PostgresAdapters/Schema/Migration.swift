#if Postgres
  import CanonicalSyncDatabases
  import SyncModels

  /// One step of the layout of a store's schema.
  ///
  /// The list grows only at its end, and a released step never changes.
  package struct Migration: Sendable {
    /// The permanent name of the step.
    package let name: String
    let statements: [String]

    package init(_ name: String, _ statements: [String]) {
      self.name = name
      self.statements = statements
    }

    /// Every step, the oldest first. `store.layout` is the number of applied steps.
    package static let all: [Migration] = [
      Migration("initial", initial),
      Migration("keep alone", [keepAlone]),
      Migration("marks apart", marksApart),
      Migration("payload digests", payloadDigests),
    ]

    /// The text in `store.application`.
    static let application = "CanonicalSync"

    private static let initial = [
      // One row, rewritten by every commit: the space of its former versions lies beside it.
      """
      CREATE TABLE store (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), application text NOT NULL,
        layout integer NOT NULL, identity text NOT NULL, catalog bigint NOT NULL, position bigint NOT NULL,
        kept_version bigint NOT NULL, fence bigint NOT NULL, holder text, lease_ends_at bigint,
        moved_to text) WITH (fillfactor = 10)
      """,
      """
      INSERT INTO store VALUES (
        true, '\(application)', 0, replace(gen_random_uuid()::text, '-', ''), 0, 0, 0, 0, NULL, NULL, NULL)
      """,
      """
      CREATE TABLE entities (
        type text COLLATE "C" PRIMARY KEY, declaration text NOT NULL, table_name text NOT NULL,
        view_name text NOT NULL, round bigint NOT NULL DEFAULT 1, filled_id bytea, filled_rest bytea,
        unread_after bigint)
      """,
      """
      CREATE TABLE fields (
        type text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, mark bigint NOT NULL,
        column_name text NOT NULL, is_declared boolean NOT NULL, is_filled boolean NOT NULL)
      """,
      "CREATE TABLE kept (id bytea NOT NULL, rest bytea NOT NULL, value bytea NOT NULL)",
      "CREATE UNIQUE INDEX \"kept.id\" ON kept (id, \(StoredKey.digest(of: "rest")))",
      "CREATE TABLE changes (position bigint PRIMARY KEY, types text[], keys bytea[])",
      "CREATE TABLE commits (writer bytea PRIMARY KEY, token bigint NOT NULL, at timestamptz NOT NULL)",
      """
      CREATE TABLE counts (
        type text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, entries bigint NOT NULL,
        PRIMARY KEY (type, kind))
      """,
      """
      CREATE TABLE set_aside (
        entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, type text COLLATE "C" NOT NULL,
        is_bytes boolean NOT NULL, id bytea NOT NULL, rest bytea NOT NULL, kind text NOT NULL,
        change text NOT NULL, record_type text NOT NULL, record_key bytea, version_epoch bigint,
        version_sequence bigint, version_modified_at bigint, entity_tag bytea, schema_version bigint,
        flaw bytea, location bytea, reason bytea NOT NULL, waits_for bytea NOT NULL, pass bigint NOT NULL,
        fence bigint NOT NULL, since bigint NOT NULL, payload bytea)
      """,
      "CREATE INDEX \"set_aside.id\" ON set_aside (type, is_bytes, id)",
      """
      CREATE TABLE ties (
        relation integer NOT NULL, target_type text COLLATE "C" NOT NULL, target_id bytea NOT NULL,
        target_rest bytea NOT NULL, entry bigint NOT NULL REFERENCES set_aside ON DELETE CASCADE)
      """,
      "CREATE INDEX \"ties.target\" ON ties (relation, target_type, target_id)",
      "CREATE INDEX \"ties.entry\" ON ties (entry)",
      """
      CREATE TABLE outbox (
        entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, type text COLLATE "C" NOT NULL,
        id bytea NOT NULL, rest bytea NOT NULL, physical bigint NOT NULL, counter bigint NOT NULL,
        replica bytea NOT NULL, schema_version bigint, base text NOT NULL, base_epoch bigint,
        base_sequence bigint, base_modified_at bigint, base_entity_tag bytea, base_schema_version bigint,
        sent text NOT NULL, sent_physical bigint, sent_counter bigint, sent_replica bytea,
        sent_schema_version bigint, state text NOT NULL, state_at bigint, refusal bytea,
        attempts bigint NOT NULL, payload bytea, base_payload bytea, sent_payload bytea,
        rebuilt_pass bigint, rebuilt_physical bigint, rebuilt_counter bigint, rebuilt_replica bytea,
        rebuilt_winner bytea, leaves bytea)
      """,
      "CREATE UNIQUE INDEX \"outbox.id\" ON outbox (type, id, \(StoredKey.digest(of: "rest")))",
      "CREATE INDEX \"outbox.stamp\" ON outbox (type, physical, counter)",
      """
      CREATE TABLE outbox_leaves (
        target_type text COLLATE "C" NOT NULL, target_id bytea NOT NULL, target_rest bytea NOT NULL,
        entry bigint NOT NULL REFERENCES outbox ON DELETE CASCADE)
      """,
      "CREATE INDEX \"outbox_leaves.target\" ON outbox_leaves (target_type, target_id)",
      "CREATE INDEX \"outbox_leaves.entry\" ON outbox_leaves (entry)",
      """
      CREATE TABLE conflicts (
        number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, type text COLLATE "C" NOT NULL,
        key bytea NOT NULL, settled_at bigint NOT NULL, winner text NOT NULL, reason bytea NOT NULL,
        local_physical bigint NOT NULL, local_counter bigint NOT NULL, local_replica bytea NOT NULL,
        local_schema_version bigint, remote text NOT NULL, remote_epoch bigint NOT NULL,
        remote_sequence bigint NOT NULL, remote_modified_at bigint NOT NULL, remote_entity_tag bytea,
        remote_schema_version bigint, remote_physical bigint NOT NULL, remote_counter bigint NOT NULL,
        remote_replica bytea NOT NULL, local_payload bytea, remote_payload bytea, base_payload bytea)
      """,
      "CREATE INDEX \"conflicts.type\" ON conflicts (type, number)",
      "CREATE INDEX \"conflicts.settled_at\" ON conflicts (settled_at)",
      // Takes the lock under which writes queue, and reads what was committed before: each
      // statement of a function sees what is committed by then. The commit does not keep the lock
      // while it waits for the disk; the writer waits for that afterwards.
      """
      CREATE FUNCTION opened(lock_number bigint, writer_name bytea) RETURNS TABLE (
        o1 bigint, o2 bigint, o3 bigint, o4 bigint, o5 bigint, o6 text, o7 text, o8 integer, o9 bigint, o10 text)
        LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock(lock_number);
        PERFORM set_config('synchronous_commit', 'off', true);
        RETURN QUERY SELECT s.catalog, s.kept_version, s.position, s.fence, s.lease_ends_at, s.moved_to, s.identity,
          s.layout, (SELECT c.token FROM commits AS c WHERE c.writer = writer_name),
          (SELECT string_agg(n.type || ' ' || n.kind || ' ' || n.entries, E'\\n') FROM counts AS n) FROM store AS s;
      END $$
      """,
      // For the views: bytes as text, or escaped where text cannot hold them.
      """
      CREATE FUNCTION shown(value bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
      BEGIN
        RETURN convert_from(value, 'UTF8');
      EXCEPTION WHEN OTHERS THEN
        RETURN encode(value, 'escape');
      END $$
      """,
    ]

    // Every page of a listing that marks rows of a chunk rewrites it. Half of its disk page is left
    // for its former versions, so that its index entry stays as it is.
    private static let marksApart = [
      """
      CREATE TABLE marks (
        type text COLLATE "C" NOT NULL, chunk bigint NOT NULL,
        bits bytea NOT NULL CHECK (octet_length(bits) = \(MarkBitmap.chunkSize)), PRIMARY KEY (type, chunk))
        WITH (fillfactor = 50)
      """
    ]

    // Rows from before have no digest until they are written.
    private static let payloadDigests = [
      """
      ALTER TABLE store ADD COLUMN digest_key bytea NOT NULL
        DEFAULT decode(replace(gen_random_uuid()::text, '-', ''), 'hex')
      """,
      """
      DO $$
      DECLARE name text;
      BEGIN
        FOR name IN SELECT table_name FROM entities LOOP
          EXECUTE format('ALTER TABLE %I ADD COLUMN digest bigint', name);
        END LOOP;
      END $$
      """,
    ]

    // Writes kept values as a whole transaction, unless another one has changed the store's row.
    private static let keepAlone = """
      CREATE FUNCTION keep_alone(lock_number bigint, writer_name bytea, new_token bigint, known_catalog bigint,
        known_version bigint, known_position bigint, known_fence bigint, known_counts text, known_lease boolean,
        new_ids bytea[], new_rests bytea[], new_values bytea[], gone_ids bytea[], gone_rests bytea[])
        RETURNS boolean LANGUAGE plpgsql AS $$
      DECLARE present record;
      BEGIN
        SELECT * INTO present FROM opened(lock_number, writer_name);
        IF present.o1 <> known_catalog OR present.o2 <> known_version OR present.o3 <> known_position
          OR present.o4 <> known_fence OR (present.o5 IS NOT NULL) <> known_lease OR present.o6 IS NOT NULL
          OR coalesce(present.o9, 0) <> new_token - 1 OR coalesce(present.o10, '') <> known_counts THEN
          RETURN false;
        END IF;
        INSERT INTO kept SELECT * FROM unnest(new_ids, new_rests, new_values)
          ON CONFLICT (id, \(StoredKey.digest(of: "rest"))) DO UPDATE SET value = excluded.value;
        IF cardinality(gone_ids) > 0 THEN
          DELETE FROM kept USING unnest(gone_ids, gone_rests) AS k(id, rest)
            WHERE kept.id = k.id AND kept.rest = k.rest;
        END IF;
        INSERT INTO commits VALUES (writer_name, new_token, now())
          ON CONFLICT (writer) DO UPDATE SET token = excluded.token, at = excluded.at;
        UPDATE store SET kept_version = kept_version + 1;
        RETURN true;
      END $$
      """
  }
#endif
