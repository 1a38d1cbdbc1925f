-- Database time: the one clock of the product, in milliseconds, UTC. Not now(), which stands still in a transaction.
-- Tests replace the function in their own database to move time.
CREATE FUNCTION berth_now() RETURNS timestamptz
  LANGUAGE sql VOLATILE PARALLEL SAFE
  AS $$ SELECT date_trunc('milliseconds', clock_timestamp()) $$;

-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "job_state" AS ENUM ('BLOCKED', 'QUEUED', 'STARTING', 'RUNNING', 'CANCELLING', 'SUCCEEDED', 'FAILED', 'INTERRUPTED', 'CANCELLED');

-- CreateEnum
CREATE TYPE "user_level" AS ENUM ('VIEWER', 'RESEARCHER', 'LEAD', 'ADMIN');

-- CreateEnum
CREATE TYPE "pool_policy" AS ENUM ('PRIORITY', 'FAIR_SHARE');

-- CreateEnum
CREATE TYPE "node_state" AS ENUM ('READY', 'CORDONED', 'DRAINING', 'LOST');

-- CreateTable
CREATE TABLE "user" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "display_name" TEXT,
    "email" TEXT,
    "level" "user_level" NOT NULL,
    "unix_user" TEXT,
    "disabled" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pool" (
    "name" TEXT NOT NULL,
    "policy" "pool_policy" NOT NULL DEFAULT 'PRIORITY',
    "executors" TEXT[],
    "machine" TEXT,
    "relax_replicas" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "pool_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "submission_queue" (
    "name" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "position" INTEGER NOT NULL,
    "native" JSONB,

    CONSTRAINT "submission_queue_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "node" (
    "id" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "state" "node_state" NOT NULL DEFAULT 'READY',
    "cpu_millis" INTEGER NOT NULL,
    "memory_bytes" BIGINT NOT NULL,
    "free_cpu_millis" INTEGER NOT NULL,
    "free_memory_bytes" BIGINT NOT NULL,
    "cpu_model" TEXT,
    "infiniband" BOOLEAN NOT NULL DEFAULT false,
    "last_seen_at" TIMESTAMPTZ(3),

    CONSTRAINT "node_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "device" (
    "node_id" TEXT NOT NULL,
    "device" INTEGER NOT NULL,
    "model" TEXT NOT NULL,
    "memory_gib" DOUBLE PRECISION NOT NULL,
    "tensor_cores" BOOLEAN NOT NULL DEFAULT false,
    "cuda" TEXT[],

    CONSTRAINT "device_pkey" PRIMARY KEY ("node_id","device")
);

-- CreateTable
CREATE TABLE "device_claim" (
    "node_id" TEXT NOT NULL,
    "device" INTEGER NOT NULL,
    "run_id" TEXT NOT NULL,

    CONSTRAINT "device_claim_pkey" PRIMARY KEY ("node_id","device")
);

-- CreateTable
CREATE TABLE "allocation" (
    "run_id" TEXT NOT NULL,
    "replica" INTEGER NOT NULL,
    "node_id" TEXT NOT NULL,
    "cpu_millis" INTEGER NOT NULL,
    "memory_bytes" BIGINT NOT NULL,

    CONSTRAINT "allocation_pkey" PRIMARY KEY ("run_id","replica")
);

-- CreateTable
CREATE TABLE "job" (
    "id" TEXT NOT NULL,
    "sequence" BIGSERIAL NOT NULL,
    "user_id" TEXT NOT NULL,
    "name" TEXT,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "spec" JSONB NOT NULL,
    "state" "job_state" NOT NULL,
    "state_reason" TEXT,
    "state_info" TEXT,
    "version" BIGINT NOT NULL DEFAULT 1,
    "run_number" INTEGER NOT NULL DEFAULT 1,
    "pool" TEXT NOT NULL,
    "queue" TEXT NOT NULL,
    "executor" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "project" TEXT,
    "base_priority" INTEGER NOT NULL,
    "estimated_cost" DOUBLE PRECISION,
    "cpu_millis" INTEGER NOT NULL,
    "memory_bytes" BIGINT NOT NULL,
    "gpu" INTEGER NOT NULL,
    "not_before" TIMESTAMPTZ(3),
    "exit_code" INTEGER,
    "progress_fraction" DOUBLE PRECISION,
    "progress_message" TEXT,
    "progress_at" TIMESTAMPTZ(3),
    "log_closed" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "queued_at" TIMESTAMPTZ(3),
    "eligible_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "job_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "dependency" (
    "job_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "on_job_id" TEXT NOT NULL,
    "on" TEXT NOT NULL,

    CONSTRAINT "dependency_pkey" PRIMARY KEY ("job_id","position")
);

-- CreateTable
CREATE TABLE "queue_entry" (
    "job_id" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "sequence" BIGINT NOT NULL,
    "eligible_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "queue_entry_pkey" PRIMARY KEY ("job_id")
);

-- CreateTable
CREATE TABLE "run" (
    "id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "pool" TEXT NOT NULL,
    "state" "job_state" NOT NULL,
    "state_reason" TEXT,
    "state_info" TEXT,
    "exit_code" INTEGER,
    "handle" TEXT,
    "native_id" TEXT,
    "nodes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "gpu_ids" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "scheduled_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "cancel_requested_at" TIMESTAMPTZ(3),
    "cancelled_at" TIMESTAMPTZ(3),
    "preempt_requested_at" TIMESTAMPTZ(3),
    "expired_at" TIMESTAMPTZ(3),

    CONSTRAINT "run_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event" (
    "job_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "position" BIGINT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "type" TEXT NOT NULL,
    "from_state" "job_state",
    "to_state" "job_state",
    "psij_state" TEXT,
    "reason" TEXT,
    "message" TEXT,
    "exit_code" INTEGER,
    "run" INTEGER,
    "actor_id" TEXT,
    "metadata" JSONB,

    CONSTRAINT "event_pkey" PRIMARY KEY ("job_id","seq")
);

-- CreateTable
CREATE TABLE "feed_head" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL DEFAULT 0,
    "forgotten" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "feed_head_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_log" (
    "run_id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "end_offset" BIGINT NOT NULL DEFAULT 0,
    "start_offset" BIGINT NOT NULL DEFAULT 0,
    "line_state" BIGINT[] DEFAULT ARRAY[1, 0, 0, 0]::BIGINT[],
    "position" JSONB,
    "sealed" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "run_log_pkey" PRIMARY KEY ("run_id")
);

-- CreateTable
CREATE TABLE "log_chunk" (
    "run_id" TEXT NOT NULL,
    "start_offset" BIGINT NOT NULL,
    "end_offset" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "line_state" BIGINT[],
    "segments" INTEGER[],
    "data" BYTEA,
    "gap" TEXT,

    CONSTRAINT "log_chunk_pkey" PRIMARY KEY ("run_id","start_offset")
);

-- CreateTable
CREATE TABLE "scheduler_leader" (
    "pool" TEXT NOT NULL,
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "holder" TEXT,
    "host" TEXT,

    CONSTRAINT "scheduler_leader_pkey" PRIMARY KEY ("pool")
);

-- CreateTable
CREATE TABLE "scheduler_lease" (
    "pool" TEXT NOT NULL,
    "renewed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "scheduler_lease_pkey" PRIMARY KEY ("pool")
);

-- CreateTable
CREATE TABLE "submission_gate" (
    "id" INTEGER NOT NULL,

    CONSTRAINT "submission_gate_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "applied_setting" (
    "key" TEXT NOT NULL,
    "value" JSONB NOT NULL,
    "applied_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "applied_setting_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE UNIQUE INDEX "user_name_key" ON "user"("name");

-- CreateIndex
CREATE INDEX "submission_queue_pool_idx" ON "submission_queue"("pool");

-- CreateIndex
CREATE UNIQUE INDEX "node_pool_name_key" ON "node"("pool", "name");

-- CreateIndex
CREATE INDEX "device_claim_run_id_idx" ON "device_claim"("run_id");

-- CreateIndex
CREATE INDEX "allocation_node_id_idx" ON "allocation"("node_id");

-- CreateIndex
CREATE INDEX "job_created_at_id_idx" ON "job"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "job_user_id_created_at_id_idx" ON "job"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "dependency_on_job_id_idx" ON "dependency"("on_job_id");

-- CreateIndex
CREATE INDEX "queue_entry_pool_sequence_idx" ON "queue_entry"("pool", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "run_job_id_number_key" ON "run"("job_id", "number");

-- CreateIndex
CREATE UNIQUE INDEX "event_position_key" ON "event"("position");

-- CreateIndex
CREATE UNIQUE INDEX "run_log_job_id_number_key" ON "run_log"("job_id", "number");

-- AddForeignKey
ALTER TABLE "submission_queue" ADD CONSTRAINT "submission_queue_pool_fkey" FOREIGN KEY ("pool") REFERENCES "pool"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "node" ADD CONSTRAINT "node_pool_fkey" FOREIGN KEY ("pool") REFERENCES "pool"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "device" ADD CONSTRAINT "device_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "device_claim" ADD CONSTRAINT "device_claim_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "allocation" ADD CONSTRAINT "allocation_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "allocation" ADD CONSTRAINT "allocation_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "node"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job" ADD CONSTRAINT "job_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dependency" ADD CONSTRAINT "dependency_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dependency" ADD CONSTRAINT "dependency_on_job_id_fkey" FOREIGN KEY ("on_job_id") REFERENCES "job"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "queue_entry" ADD CONSTRAINT "queue_entry_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run" ADD CONSTRAINT "run_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_log" ADD CONSTRAINT "run_log_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "log_chunk" ADD CONSTRAINT "log_chunk_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run_log"("run_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- End of the generated part.

-- What a column type cannot say. PostgreSQL refuses the impossible, whoever writes.

CREATE FUNCTION berth_is_final(state job_state) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT state IN ('SUCCEEDED', 'FAILED', 'INTERRUPTED', 'CANCELLED') $$;

ALTER TABLE job
  ADD CONSTRAINT job_version_from_1 CHECK (version >= 1),
  ADD CONSTRAINT job_run_number_from_1 CHECK (run_number >= 1),
  ADD CONSTRAINT job_base_priority_of_a_level CHECK (base_priority IN (0, 10, 20, 30)),
  ADD CONSTRAINT job_amounts_not_negative CHECK (cpu_millis >= 0 AND memory_bytes >= 0 AND gpu >= 0),
  ADD CONSTRAINT job_estimated_cost_not_negative CHECK (estimated_cost >= 0),
  ADD CONSTRAINT job_progress_is_a_fraction CHECK (progress_fraction BETWEEN 0 AND 1),
  ADD CONSTRAINT job_finished_exactly_when_final CHECK ((finished_at IS NOT NULL) = berth_is_final(state)),
  ADD CONSTRAINT job_log_closed_exactly_when_final CHECK (log_closed = berth_is_final(state));

ALTER TABLE run
  ADD CONSTRAINT run_number_from_1 CHECK (number >= 1),
  ADD CONSTRAINT run_finished_exactly_when_final CHECK ((finished_at IS NOT NULL) = berth_is_final(state)),
  ADD CONSTRAINT run_exit_code_only_when_final CHECK (exit_code IS NULL OR berth_is_final(state));

ALTER TABLE event
  ADD CONSTRAINT event_seq_from_1 CHECK (seq >= 1),
  ADD CONSTRAINT event_position_from_1 CHECK (position >= 1),
  ADD CONSTRAINT event_run_from_1 CHECK (run >= 1);

ALTER TABLE dependency
  ADD CONSTRAINT dependency_position_from_0 CHECK (position >= 0),
  ADD CONSTRAINT dependency_not_on_itself CHECK (job_id <> on_job_id),
  ADD CONSTRAINT dependency_on_known CHECK ("on" IN ('SUCCEEDED', 'FAILED', 'FINISHED'));

ALTER TABLE node
  ADD CONSTRAINT node_cpu_not_overbooked CHECK (free_cpu_millis BETWEEN 0 AND cpu_millis),
  ADD CONSTRAINT node_memory_not_overbooked CHECK (free_memory_bytes BETWEEN 0 AND memory_bytes);

ALTER TABLE device
  ADD CONSTRAINT device_index_from_0 CHECK (device >= 0),
  ADD CONSTRAINT device_memory_positive CHECK (memory_gib > 0);

ALTER TABLE allocation
  ADD CONSTRAINT allocation_replica_from_0 CHECK (replica >= 0),
  ADD CONSTRAINT allocation_amounts_not_negative CHECK (cpu_millis >= 0 AND memory_bytes >= 0);

ALTER TABLE run_log
  ADD CONSTRAINT run_log_offsets_in_order CHECK (start_offset BETWEEN 0 AND end_offset);

ALTER TABLE log_chunk
  ADD CONSTRAINT log_chunk_not_empty CHECK (start_offset >= 0 AND end_offset > start_offset),
  ADD CONSTRAINT log_chunk_bytes_or_gap CHECK ((data IS NULL) = (gap IS NOT NULL)),
  ADD CONSTRAINT log_chunk_gap_known CHECK (gap IN ('LOST', 'OVER_LIMIT', 'NOT_VISIBLE'));

ALTER TABLE feed_head
  ADD CONSTRAINT feed_head_one_row CHECK (id = 1),
  ADD CONSTRAINT feed_head_position_from_0 CHECK (position >= 0);

ALTER TABLE scheduler_leader
  ADD CONSTRAINT scheduler_leader_epoch_from_0 CHECK (epoch >= 0);

-- Partial indexes. The states are written out: the planner has to recognise them in the conditions of the queries.

CREATE UNIQUE INDEX run_one_alive_per_job ON run (job_id)
  WHERE state IN ('BLOCKED', 'QUEUED', 'STARTING', 'RUNNING', 'CANCELLING');
CREATE INDEX run_holding ON run (pool) WHERE state IN ('STARTING', 'RUNNING', 'CANCELLING');
CREATE INDEX run_by_native_id ON run (native_id) WHERE native_id IS NOT NULL;
CREATE UNIQUE INDEX submission_queue_one_default ON submission_queue (is_default) WHERE is_default;
CREATE INDEX event_without_position ON event (job_id, seq) WHERE position IS NULL;
CREATE INDEX job_finished ON job (finished_at DESC, id DESC) WHERE finished_at IS NOT NULL;
-- No index of job mentions its state: so a move that does not end the job touches none of them (HOT).
CREATE INDEX job_alive ON job (pool) WHERE NOT log_closed;
CREATE INDEX job_alive_of_user ON job (user_id) WHERE NOT log_closed;

-- What never changes.

CREATE FUNCTION berth_refuse() RETURNS trigger
  LANGUAGE plpgsql
  AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END
$$;

CREATE TRIGGER job_final_stays BEFORE UPDATE OF state ON job FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND berth_is_final(OLD.state))
  EXECUTE FUNCTION berth_refuse('A final job never changes its state');
CREATE TRIGGER run_final_stays BEFORE UPDATE OF state ON run FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND berth_is_final(OLD.state))
  EXECUTE FUNCTION berth_refuse('A final run never changes its state');
CREATE TRIGGER job_submission_stays BEFORE UPDATE OF id, sequence, user_id, spec, created_at ON job FOR EACH ROW
  WHEN ((OLD.id, OLD.sequence, OLD.user_id, OLD.spec, OLD.created_at)
    IS DISTINCT FROM (NEW.id, NEW.sequence, NEW.user_id, NEW.spec, NEW.created_at))
  EXECUTE FUNCTION berth_refuse('What was submitted never changes');

-- Storage.

-- Chunks are compressed already: PostgreSQL need not try again, and may cut pieces out without reading the whole.
ALTER TABLE log_chunk ALTER COLUMN data SET STORAGE EXTERNAL;

-- Rows that are updated over and over find room on their own page (HOT), and their tables are cleaned by count, not by
-- share: a queue through which a million jobs went has few rows and a million dead ones.
ALTER TABLE job SET (fillfactor = 80);
ALTER TABLE node SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
ALTER TABLE run_log SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE scheduler_lease
  SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
ALTER TABLE queue_entry SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE device_claim SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE allocation SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

INSERT INTO feed_head (id, position) VALUES (1, 0);
