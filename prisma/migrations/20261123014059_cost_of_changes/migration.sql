-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- DropIndex
DROP INDEX "job_created_at_id_idx";

-- DropIndex
DROP INDEX "job_user_id_created_at_id_idx";

-- CreateIndex
CREATE INDEX "job_created_at_id_idx" ON "job"("created_at", "id");

-- CreateIndex
CREATE INDEX "job_user_id_created_at_id_idx" ON "job"("user_id", "created_at", "id");

-- End of the generated part.

-- What every new job enters grows at its end: a page of an index that grows at its beginning is split in the middle, and both
-- halves stay half full. Lists that show the newest job first read these backwards.
DROP INDEX job_by_phase;
CREATE INDEX job_by_phase ON job (log_closed, created_at, id);
DROP INDEX job_by_finish;
CREATE INDEX job_by_finish ON job (coalesce(finished_at, 'infinity'), id);
DROP INDEX job_by_priority;
CREATE INDEX job_by_priority ON job ((coalesce(priority_override, base_priority)::bigint), id);

-- Most moves of jobs neither join nor leave a queue, and their statements call this with no rows: then it looks at them once.
CREATE FUNCTION berth_tell_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO queue_tally (pool, band, chunk, open, entries)
    SELECT pool, band, berth_chunk(sequence), open, -count(*) FROM before GROUP BY 1, 2, 3, 4;
    IF FOUND THEN
      INSERT INTO pool_change (pool, kind, job_id, lane_id, bid, sequence, run_id, run)
      SELECT pool, 'LEFT', job_id, lane_id, bid, sequence, run_id, run FROM before WHERE open;
      WITH alike AS (
        SELECT pool, lane_id, bid, berth_chunk(sequence) AS chunk, -count(*) AS entries FROM before GROUP BY 1, 2, 3, 4
      ),
      counted AS MATERIALIZED (
        SELECT a.pool, l.account, a.bid, a.chunk, a.entries
        FROM alike a CROSS JOIN LATERAL (SELECT account FROM lane WHERE id = a.lane_id AND NOT interactive OFFSET 0) l
      ),
      tallied AS (
        INSERT INTO account_tally (pool, part, bid, chunk, entries)
        SELECT pool, berth_part(account), bid, chunk, sum(entries) FROM counted GROUP BY 1, 2, 3, 4
      )
      INSERT INTO account_total (pool, account, entries) SELECT pool, account, sum(entries) FROM counted GROUP BY 1, 2;
    END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO queue_tally (pool, band, chunk, open, entries, since_min, since_max)
    SELECT pool, band, berth_chunk(sequence), open, count(*), min(eligible_at), max(eligible_at) FROM after GROUP BY 1, 2, 3, 4;
    IF FOUND THEN
      INSERT INTO pool_change (pool, kind, job_id, lane_id, bid, sequence, run_id, run, since)
      SELECT pool, CASE WHEN open THEN 'JOINED' ELSE 'GATED' END::pool_change_kind, job_id, lane_id, bid, sequence, run_id, run, eligible_at
      FROM after ORDER BY sequence;
      WITH alike AS (
        SELECT pool, lane_id, bid, berth_chunk(sequence) AS chunk, count(*) AS entries FROM after GROUP BY 1, 2, 3, 4
      ),
      counted AS MATERIALIZED (
        SELECT a.pool, l.account, a.bid, a.chunk, a.entries
        FROM alike a CROSS JOIN LATERAL (SELECT account FROM lane WHERE id = a.lane_id AND NOT interactive OFFSET 0) l
      ),
      tallied AS (
        INSERT INTO account_tally (pool, part, bid, chunk, entries)
        SELECT pool, berth_part(account), bid, chunk, sum(entries) FROM counted GROUP BY 1, 2, 3, 4
      )
      INSERT INTO account_total (pool, account, entries) SELECT pool, account, sum(entries) FROM counted GROUP BY 1, 2;
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER queue_entry_joined AFTER INSERT ON queue_entry
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION berth_tell_queue();
CREATE OR REPLACE TRIGGER queue_entry_left AFTER DELETE ON queue_entry
  REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION berth_tell_queue();
CREATE OR REPLACE TRIGGER queue_entry_moved AFTER UPDATE ON queue_entry
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION berth_tell_queue();
DROP FUNCTION berth_queue_changed();
