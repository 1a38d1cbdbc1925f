-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- DropIndex
DROP INDEX "submission_queue_pool_idx";

-- End of the generated part.

-- No statement asks for the jobs of a pool that are not over: who counts them asks for those of a person, a team or an account.
DROP INDEX job_alive;

-- Entries that are alike are counted before their lane is looked up, once for both tables: a group of submissions has few
-- lanes, and two look-ups for each entry were a tenth of what an insertion cost.
CREATE OR REPLACE FUNCTION berth_queue_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO pool_change (pool, kind, job_id, lane_id, bid, sequence, run_id, run)
    SELECT pool, 'LEFT', job_id, lane_id, bid, sequence, run_id, run FROM before WHERE open;
    INSERT INTO queue_tally (pool, band, chunk, open, entries)
    SELECT pool, band, berth_chunk(sequence), open, -count(*) FROM before GROUP BY 1, 2, 3, 4;
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
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO pool_change (pool, kind, job_id, lane_id, bid, sequence, run_id, run, since)
    SELECT pool, CASE WHEN open THEN 'JOINED' ELSE 'GATED' END::pool_change_kind, job_id, lane_id, bid, sequence, run_id, run, eligible_at
    FROM after ORDER BY sequence;
    INSERT INTO queue_tally (pool, band, chunk, open, entries, since_min, since_max)
    SELECT pool, band, berth_chunk(sequence), open, count(*), min(eligible_at), max(eligible_at) FROM after GROUP BY 1, 2, 3, 4;
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
  RETURN NULL;
END $$;
