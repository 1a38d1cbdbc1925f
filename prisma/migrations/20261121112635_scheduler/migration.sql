-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- CreateEnum
CREATE TYPE "pool_change_kind" AS ENUM ('JOINED', 'LEFT', 'GATED', 'RUN', 'NODES', 'SETTINGS');

-- CreateEnum
CREATE TYPE "hold_kind" AS ENUM ('PREEMPTION', 'DRAIN');

-- DropIndex
DROP INDEX "queue_entry_pool_sequence_idx";

-- DropIndex
DROP INDEX "event_position_key";

-- DropIndex
DROP INDEX "usage_ledger_team_id_at_idx";

-- DropIndex
DROP INDEX "audit_entry_seq_key";

-- DropIndex
DROP INDEX "audit_entry_object_id_seq_idx";

-- DropIndex
DROP INDEX "audit_entry_actor_id_seq_idx";

-- AlterTable
ALTER TABLE "pool" ADD COLUMN     "limits_revision" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "rates" JSONB,
ADD COLUMN     "revision" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "scheduling" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "weights" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "node" ADD COLUMN     "state_before" "node_state";

-- AlterTable
ALTER TABLE "allocation" ADD COLUMN     "infiniband" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "cost" DOUBLE PRECISION,
ADD COLUMN     "lane_id" UUID NOT NULL,
ADD COLUMN     "priority_override" INTEGER,
ADD COLUMN     "turn" BIGINT;

-- AlterTable
ALTER TABLE "queue_entry" DROP COLUMN "scopes",
ADD COLUMN     "band" INTEGER NOT NULL,
ADD COLUMN     "bid" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "lane_id" UUID NOT NULL,
ADD COLUMN     "open" BOOLEAN NOT NULL,
ADD COLUMN     "run" INTEGER NOT NULL,
ADD COLUMN     "run_id" TEXT NOT NULL;

-- AlterTable
ALTER TABLE "run" ADD COLUMN     "backfilled_on" TEXT,
ADD COLUMN     "interactive_user_id" TEXT,
ADD COLUMN     "lost_at" TIMESTAMPTZ(3),
ADD COLUMN     "pool_revision" BIGINT,
ADD COLUMN     "preempt_signalled_at" TIMESTAMPTZ(3),
ADD COLUMN     "won_tier" INTEGER,
ALTER COLUMN "scheduled_at" SET DATA TYPE TIMESTAMPTZ(6);

-- AlterTable
ALTER TABLE "scheduler_lease" ADD COLUMN     "load5" DOUBLE PRECISION,
ADD COLUMN     "memory_percent" DOUBLE PRECISION;

-- CreateTable
CREATE TABLE "lane" (
    "id" UUID NOT NULL,
    "pool" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "team_id" TEXT,
    "account" TEXT NOT NULL,
    "project" TEXT,
    "queue" TEXT NOT NULL,
    "executor" TEXT NOT NULL,
    "priority" INTEGER NOT NULL,
    "overridden" BOOLEAN NOT NULL,
    "interactive" BOOLEAN NOT NULL,
    "preemptable" BOOLEAN NOT NULL,
    "restartable" BOOLEAN NOT NULL,
    "reservation_id" TEXT,
    "run_seconds" DOUBLE PRECISION,
    "shape" JSONB NOT NULL,

    CONSTRAINT "lane_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pool_change" (
    "id" BIGSERIAL NOT NULL,
    "pool" TEXT NOT NULL,
    "kind" "pool_change_kind" NOT NULL,
    "job_id" TEXT,
    "lane_id" UUID,
    "bid" INTEGER,
    "sequence" BIGINT,
    "run_id" TEXT,
    "run" INTEGER,
    "since" TIMESTAMPTZ(3),

    CONSTRAINT "pool_change_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "hold" (
    "id" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "kind" "hold_kind" NOT NULL,
    "class" TEXT NOT NULL,
    "placements" JSONB NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "expected_at" TIMESTAMPTZ(3),

    CONSTRAINT "hold_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "preemption" (
    "id" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "epoch" BIGINT NOT NULL,
    "tier" INTEGER NOT NULL,
    "claimant_job_id" TEXT NOT NULL,
    "claimant" TEXT NOT NULL,
    "victim_job_id" TEXT NOT NULL,
    "victim_run_id" TEXT NOT NULL,
    "victim" TEXT NOT NULL,
    "shares" JSONB NOT NULL,

    CONSTRAINT "preemption_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "capacity_reservation" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "project" TEXT NOT NULL,
    "nodes" TEXT[],
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "hard" BOOLEAN NOT NULL DEFAULT false,
    "native_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "capacity_reservation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "lane_view" (
    "lane_id" UUID NOT NULL,
    "pool" TEXT NOT NULL,
    "waiting" INTEGER NOT NULL,
    "head_job_id" TEXT NOT NULL,
    "head_bid" INTEGER NOT NULL,
    "head_sequence" BIGINT NOT NULL,
    "priority" INTEGER NOT NULL,
    "reason" JSONB,
    "considered_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lane_view_pkey" PRIMARY KEY ("lane_id")
);

-- CreateTable
CREATE TABLE "class_view" (
    "pool" TEXT NOT NULL,
    "class" TEXT NOT NULL,
    "blocked_by" TEXT,
    "reason" JSONB,
    "considered_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "class_view_pkey" PRIMARY KEY ("pool","class")
);

-- CreateTable
CREATE TABLE "account_view" (
    "pool" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "occupancy" DOUBLE PRECISION NOT NULL,
    "weight" DOUBLE PRECISION NOT NULL,
    "running" INTEGER NOT NULL,
    "queued" INTEGER NOT NULL,

    CONSTRAINT "account_view_pkey" PRIMARY KEY ("pool","account")
);

-- CreateTable
CREATE TABLE "pool_view" (
    "pool" TEXT NOT NULL,
    "revision" BIGINT NOT NULL DEFAULT 1,

    CONSTRAINT "pool_view_pkey" PRIMARY KEY ("pool")
);

-- CreateTable
CREATE TABLE "queue_tally" (
    "id" BIGSERIAL NOT NULL,
    "pool" TEXT NOT NULL,
    "band" INTEGER NOT NULL,
    "chunk" BIGINT NOT NULL,
    "open" BOOLEAN NOT NULL,
    "entries" INTEGER NOT NULL,
    "since_min" TIMESTAMPTZ(3),
    "since_max" TIMESTAMPTZ(3),

    CONSTRAINT "queue_tally_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "account_tally" (
    "id" BIGSERIAL NOT NULL,
    "pool" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "bid" INTEGER NOT NULL,
    "chunk" BIGINT NOT NULL,
    "entries" INTEGER NOT NULL,

    CONSTRAINT "account_tally_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "account_total" (
    "id" BIGSERIAL NOT NULL,
    "pool" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "entries" INTEGER NOT NULL,

    CONSTRAINT "account_total_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "lane_pool_idx" ON "lane"("pool");

-- CreateIndex
CREATE INDEX "pool_change_pool_id_idx" ON "pool_change"("pool", "id");

-- CreateIndex
CREATE UNIQUE INDEX "hold_job_id_key" ON "hold"("job_id");

-- CreateIndex
CREATE INDEX "hold_pool_idx" ON "hold"("pool");

-- CreateIndex
CREATE UNIQUE INDEX "preemption_victim_run_id_key" ON "preemption"("victim_run_id");

-- CreateIndex
CREATE INDEX "preemption_pool_at_idx" ON "preemption"("pool", "at");

-- CreateIndex
CREATE UNIQUE INDEX "capacity_reservation_pool_name_key" ON "capacity_reservation"("pool", "name");

-- CreateIndex
CREATE INDEX "lane_view_pool_idx" ON "lane_view"("pool");

-- CreateIndex
CREATE INDEX "queue_tally_pool_idx" ON "queue_tally"("pool");

-- CreateIndex
CREATE INDEX "account_tally_pool_part_idx" ON "account_tally"("pool", "part");

-- CreateIndex
CREATE INDEX "account_total_pool_idx" ON "account_total"("pool");

-- CreateIndex
CREATE INDEX "queue_entry_pool_band_bid_sequence_idx" ON "queue_entry"("pool", "band" DESC, "bid" DESC, "sequence");

-- AddForeignKey
ALTER TABLE "hold" ADD CONSTRAINT "hold_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "queue_entry"("job_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- End of the generated part.

DROP FUNCTION berth_scopes(text, text, text, text, int);

-- The queue. The leader reads the first entries of a lane, and people count those before theirs; bids count downwards. Who
-- counts or sorts reads the index alone: for that it has the bid as such besides.

CREATE INDEX queue_entry_in_lane ON queue_entry (lane_id, open, (-bid), sequence) INCLUDE (bid, eligible_at);
CREATE INDEX queue_entry_due ON queue_entry (pool, eligible_at) WHERE NOT open;
ALTER TABLE queue_entry
  ADD CONSTRAINT queue_entry_band_known CHECK (band BETWEEN 0 AND 50 OR band = 100),
  ADD CONSTRAINT queue_entry_bid_not_negative CHECK (bid >= 0);
ALTER TABLE job ADD CONSTRAINT job_override_in_range CHECK (priority_override BETWEEN 0 AND 50);
CREATE INDEX lane_overridden ON lane (pool, priority) WHERE overridden;
CREATE INDEX lane_of_account ON lane (pool, account) INCLUDE (id) WHERE NOT interactive;
CREATE INDEX lane_of_user ON lane (user_id, pool);
ALTER TABLE lane ADD CONSTRAINT lane_priority_in_range CHECK (priority BETWEEN 0 AND 50);

-- How long those waited that started last.
CREATE INDEX run_scheduled ON run (pool, scheduled_at) WHERE scheduled_at IS NOT NULL;

-- What is told with every change of the queue besides: how many entries of each chunk came and went, and of which accounts.

CREATE FUNCTION berth_chunk(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT $1 / 2048';
CREATE FUNCTION berth_part(account text) RETURNS int LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT get_byte(sha256(convert_to($1, 'UTF8')), 0) & 15 $$;

-- What the leader of a pool hears: whoever writes the queue tells it, in the same transaction, and cannot forget to.

-- An insertion has no rows before it and a deletion none after it: the statements about them are not reached. Lanes are found
-- by their key, one by one: the planner takes every set of rows for a thousand, and would read all lanes for one entry.
CREATE FUNCTION berth_queue_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO pool_change (pool, kind, job_id, lane_id, bid, sequence, run_id, run)
    SELECT pool, 'LEFT', job_id, lane_id, bid, sequence, run_id, run FROM before WHERE open;
    INSERT INTO queue_tally (pool, band, chunk, open, entries)
    SELECT pool, band, berth_chunk(sequence), open, -count(*) FROM before GROUP BY 1, 2, 3, 4;
    INSERT INTO account_tally (pool, part, bid, chunk, entries)
    SELECT q.pool, berth_part(l.account), q.bid, berth_chunk(q.sequence), -count(*)
    FROM before q CROSS JOIN LATERAL (SELECT account FROM lane WHERE id = q.lane_id AND NOT interactive OFFSET 0) l
    GROUP BY 1, 2, 3, 4;
    INSERT INTO account_total (pool, account, entries)
    SELECT q.pool, l.account, -count(*)
    FROM before q CROSS JOIN LATERAL (SELECT account FROM lane WHERE id = q.lane_id AND NOT interactive OFFSET 0) l
    GROUP BY 1, 2;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO pool_change (pool, kind, job_id, lane_id, bid, sequence, run_id, run, since)
    SELECT pool, CASE WHEN open THEN 'JOINED' ELSE 'GATED' END::pool_change_kind, job_id, lane_id, bid, sequence, run_id, run, eligible_at
    FROM after ORDER BY sequence;
    INSERT INTO queue_tally (pool, band, chunk, open, entries, since_min, since_max)
    SELECT pool, band, berth_chunk(sequence), open, count(*), min(eligible_at), max(eligible_at) FROM after GROUP BY 1, 2, 3, 4;
    INSERT INTO account_tally (pool, part, bid, chunk, entries)
    SELECT q.pool, berth_part(l.account), q.bid, berth_chunk(q.sequence), count(*)
    FROM after q CROSS JOIN LATERAL (SELECT account FROM lane WHERE id = q.lane_id AND NOT interactive OFFSET 0) l
    GROUP BY 1, 2, 3, 4;
    INSERT INTO account_total (pool, account, entries)
    SELECT q.pool, l.account, count(*)
    FROM after q CROSS JOIN LATERAL (SELECT account FROM lane WHERE id = q.lane_id AND NOT interactive OFFSET 0) l
    GROUP BY 1, 2;
  END IF;
  RETURN NULL;
END $$;
-- Who waits for jobs that have just ended. Volatile: what was committed after the calling statement began is seen.
CREATE FUNCTION berth_dependents(ended text[]) RETURNS TABLE (pool text, job_id text) LANGUAGE plpgsql VOLATILE STRICT ROWS 10 AS $$
BEGIN
  RETURN QUERY SELECT DISTINCT j.pool, j.id FROM dependency d JOIN job j ON j.id = d.job_id
  WHERE d.on_job_id = ANY (ended) AND j.state IN ('BLOCKED', 'QUEUED');
END $$;
CREATE TRIGGER queue_entry_joined AFTER INSERT ON queue_entry
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION berth_queue_changed();
CREATE TRIGGER queue_entry_left AFTER DELETE ON queue_entry
  REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION berth_queue_changed();
CREATE TRIGGER queue_entry_moved AFTER UPDATE ON queue_entry
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION berth_queue_changed();
ALTER TABLE pool_change SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE queue_tally SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
ALTER TABLE account_tally SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
ALTER TABLE account_total SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- Placement. One run at a time has the InfiniBand of a node; one interactive run at a time belongs to a user.

CREATE UNIQUE INDEX allocation_infiniband ON allocation (node_id) WHERE infiniband;
CREATE UNIQUE INDEX run_one_interactive ON run (interactive_user_id) WHERE state IN ('STARTING', 'RUNNING', 'CANCELLING');
CREATE INDEX run_lost ON run (pool) WHERE lost_at IS NOT NULL;
ALTER TABLE run ADD CONSTRAINT run_won_tier_known CHECK (won_tier BETWEEN 0 AND 3);
ALTER TABLE run ADD CONSTRAINT run_signalled_when_asked CHECK (preempt_signalled_at IS NULL OR preempt_requested_at IS NOT NULL);
ALTER TABLE node ADD CONSTRAINT node_lost_was_something CHECK ((state = 'LOST') = (state_before IS NOT NULL) AND state_before <> 'LOST');
ALTER TABLE preemption ADD CONSTRAINT preemption_tier_known CHECK (tier BETWEEN 0 AND 3);
ALTER TABLE capacity_reservation
  ADD CONSTRAINT capacity_reservation_ends_later CHECK (ends_at > starts_at),
  ADD CONSTRAINT capacity_reservation_has_nodes CHECK (cardinality(nodes) > 0);

-- Costs, and what is pruned of slot reservations.

ALTER TABLE job ADD CONSTRAINT job_cost_not_negative CHECK (cost >= 0);
CREATE INDEX slot_reservation_made ON slot_reservation USING brin (created_at);

-- Where most rows of an insertion have no value yet, an index leaves them out: one entry less for each submission. An
-- entry of the audit log is found by object, actor and place once it is chained, which writes all of its entries anew.

CREATE UNIQUE INDEX event_position ON event (position) WHERE position IS NOT NULL;
CREATE UNIQUE INDEX audit_entry_place ON audit_entry (seq) WHERE seq IS NOT NULL;
CREATE INDEX audit_entry_of_object ON audit_entry (object_id, seq) WHERE seq IS NOT NULL;
CREATE INDEX audit_entry_of_actor ON audit_entry (actor_id, seq) WHERE seq IS NOT NULL;
CREATE INDEX usage_ledger_of_team ON usage_ledger (team_id, at) WHERE team_id IS NOT NULL;
