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

-- CreateEnum
CREATE TYPE "token_scope" AS ENUM ('READ', 'SUBMIT', 'OPERATE', 'ADMIN');

-- CreateEnum
CREATE TYPE "quota_type" AS ENUM ('CONCURRENT_JOBS', 'JOBS_PER_HOUR', 'JOBS_PER_DAY', 'COST_PER_DAY', 'COST_PER_MONTH', 'LOCAL_GPUS');

-- CreateEnum
CREATE TYPE "quota_action" AS ENUM ('BLOCK', 'WARN', 'REQUIRE_APPROVAL');

-- CreateEnum
CREATE TYPE "quota_scope" AS ENUM ('GLOBAL', 'LEVEL', 'USER', 'TEAM', 'ACCOUNT');

-- CreateEnum
CREATE TYPE "approval_status" AS ENUM ('PENDING', 'APPROVED', 'REJECTED', 'EXPIRED', 'CANCELLED');

-- CreateEnum
CREATE TYPE "limit_scope" AS ENUM ('QUEUE', 'PROJECT', 'TEAM', 'USER');

-- CreateEnum
CREATE TYPE "question_kind" AS ENUM ('PREVIEW', 'NO_WAIT', 'PASS');

-- CreateEnum
CREATE TYPE "pool_change_kind" AS ENUM ('JOINED', 'LEFT', 'GATED', 'RUN', 'NODES', 'SETTINGS');

-- CreateEnum
CREATE TYPE "hold_kind" AS ENUM ('PREEMPTION', 'PLANNED');

-- CreateEnum
CREATE TYPE "view_scope" AS ENUM ('USER', 'TEAM', 'ALL');

-- CreateEnum
CREATE TYPE "webhook_delivery_state" AS ENUM ('PENDING', 'DELIVERED', 'DEAD');

-- CreateTable
CREATE TABLE "user" (
    "id" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "name" TEXT NOT NULL,
    "display_name" TEXT,
    "email" TEXT,
    "level" "user_level" NOT NULL,
    "unix_user" TEXT,
    "disabled" BOOLEAN NOT NULL DEFAULT false,
    "allow" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "deny" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "default_team_id" TEXT,
    "oidc_issuer" TEXT,
    "oidc_subject" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "team" (
    "id" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "name" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "team_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "saved_view" (
    "id" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "owner_id" TEXT NOT NULL,
    "team_id" TEXT,
    "scope" "view_scope" NOT NULL,
    "name" TEXT NOT NULL,
    "page" TEXT NOT NULL,
    "search" TEXT NOT NULL,
    "pinned" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "saved_view_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "team_member" (
    "team_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,

    CONSTRAINT "team_member_pkey" PRIMARY KEY ("team_id","user_id")
);

-- CreateTable
CREATE TABLE "api_token" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "scopes" "token_scope"[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pool" (
    "name" TEXT NOT NULL,
    "policy" "pool_policy" NOT NULL DEFAULT 'PRIORITY',
    "executors" TEXT[],
    "directory" TEXT,
    "relax_replicas" BOOLEAN NOT NULL DEFAULT false,
    "executor_reports" JSONB NOT NULL DEFAULT '{}',
    "unix_user_required" BOOLEAN NOT NULL DEFAULT false,
    "reserved_unix_users" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "scheduling" JSONB NOT NULL DEFAULT '{}',
    "weights" JSONB NOT NULL DEFAULT '{}',
    "rates" JSONB,
    "revision" BIGINT NOT NULL DEFAULT 0,
    "limits_revision" BIGINT NOT NULL DEFAULT 0,

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
    "version" INTEGER NOT NULL DEFAULT 1,
    "pool" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "state" "node_state" NOT NULL DEFAULT 'READY',
    "state_before" "node_state",
    "state_reason" TEXT,
    "state_by" TEXT,
    "state_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "cpu_millis" INTEGER NOT NULL,
    "memory_bytes" BIGINT NOT NULL,
    "free_cpu_millis" INTEGER NOT NULL,
    "free_memory_bytes" BIGINT NOT NULL,
    "delegated" BOOLEAN NOT NULL DEFAULT false,
    "held_cpu_millis" INTEGER NOT NULL DEFAULT 0,
    "held_memory_bytes" BIGINT NOT NULL DEFAULT 0,
    "held_gpus" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "cpu_model" TEXT,
    "infiniband" BOOLEAN NOT NULL DEFAULT false,
    "gpu_jobs_only" BOOLEAN NOT NULL DEFAULT false,
    "last_seen_at" TIMESTAMPTZ(3),
    "start_failures" INTEGER NOT NULL DEFAULT 0,
    "backs_off_until" TIMESTAMPTZ(3),
    "backs_off_because" TEXT,

    CONSTRAINT "node_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "device" (
    "node_id" TEXT NOT NULL,
    "device" INTEGER NOT NULL,
    "model" TEXT NOT NULL,
    "uuid" TEXT,
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
    "infiniband" BOOLEAN NOT NULL DEFAULT false,
    "provisional" BOOLEAN NOT NULL DEFAULT false,
    "gpu_slots" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "gpu_ids" INTEGER[] DEFAULT ARRAY[]::INTEGER[],

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
    "team_id" TEXT,
    "account" TEXT NOT NULL,
    "retry_of_id" TEXT,
    "project" TEXT,
    "base_priority" INTEGER NOT NULL,
    "priority_override" INTEGER,
    "lane_id" UUID NOT NULL,
    "turn" BIGINT,
    "estimated_cost" DOUBLE PRECISION,
    "cost" DOUBLE PRECISION,
    "cpu_millis" INTEGER NOT NULL,
    "memory_bytes" BIGINT NOT NULL,
    "gpu" INTEGER NOT NULL,
    "gpu_most" INTEGER,
    "not_before" TIMESTAMPTZ(3),
    "exit_code" INTEGER,
    "progress_fraction" DOUBLE PRECISION,
    "progress_message" TEXT,
    "progress_at" TIMESTAMPTZ(3),
    "told_at" TIMESTAMPTZ(3),
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
    "lane_id" UUID NOT NULL,
    "band" INTEGER NOT NULL,
    "bid" INTEGER NOT NULL DEFAULT 0,
    "sequence" BIGINT NOT NULL,
    "open" BOOLEAN NOT NULL,
    "eligible_at" TIMESTAMPTZ(3) NOT NULL,
    "run_id" TEXT NOT NULL,
    "run" INTEGER NOT NULL,

    CONSTRAINT "queue_entry_pkey" PRIMARY KEY ("job_id")
);

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
    "xact" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint,

    CONSTRAINT "pool_change_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "hold" (
    "id" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "kind" "hold_kind" NOT NULL,
    "placements" JSONB NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "expected_at" TIMESTAMPTZ(3),
    "backfilled_on" TEXT,

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
CREATE TABLE "account_view" (
    "pool" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "occupancy" DOUBLE PRECISION NOT NULL,
    "decayed_use" DOUBLE PRECISION,
    "share" DOUBLE PRECISION NOT NULL DEFAULT 0,
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
CREATE TABLE "pool_forecast" (
    "pool" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "basis" TEXT NOT NULL,
    "unknown" TEXT[],
    "starts" JSONB NOT NULL,

    CONSTRAINT "pool_forecast_pkey" PRIMARY KEY ("pool")
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
    "ip" TEXT,
    "image_digest" TEXT,
    "cpu_seconds" DOUBLE PRECISION,
    "max_memory_bytes" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "scheduled_at" TIMESTAMPTZ(6),
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "cancel_requested_at" TIMESTAMPTZ(3),
    "cancelled_at" TIMESTAMPTZ(3),
    "preempt_requested_at" TIMESTAMPTZ(3),
    "preempt_signalled_at" TIMESTAMPTZ(3),
    "lost_seconds" DOUBLE PRECISION,
    "lost_at" TIMESTAMPTZ(3),
    "backfilled_on" TEXT,
    "won_tier" INTEGER,
    "interactive_user_id" TEXT,
    "pool_revision" BIGINT,
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
    "xact" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint,

    CONSTRAINT "event_pkey" PRIMARY KEY ("job_id","seq")
);

-- CreateTable
CREATE TABLE "artifact" (
    "id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "run_id" TEXT NOT NULL,
    "run" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "uri" TEXT,
    "body" TEXT,
    "size_bytes" INTEGER,
    "metadata" JSON,
    "hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "artifact_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "closure" (
    "job_id" TEXT NOT NULL,
    "run" INTEGER NOT NULL,
    "body" JSON NOT NULL,
    "saved_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "closure_pkey" PRIMARY KEY ("job_id")
);

-- CreateTable
CREATE TABLE "run_token_key" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "key" BYTEA NOT NULL,

    CONSTRAINT "run_token_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deleted_job" (
    "job_id" TEXT NOT NULL,
    "position" BIGINT,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "user_id" TEXT NOT NULL,
    "name" TEXT,
    "labels" JSONB NOT NULL,
    "team_id" TEXT,
    "account" TEXT NOT NULL,
    "project" TEXT,
    "queue" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "executor" TEXT NOT NULL,
    "state" "job_state" NOT NULL,
    "state_reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "deleted_job_pkey" PRIMARY KEY ("job_id")
);

-- CreateTable
CREATE TABLE "feed_head" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "position" BIGINT NOT NULL DEFAULT 0,
    "forgotten" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "feed_head_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "retention_mark" (
    "task" TEXT NOT NULL,
    "finished_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retention_mark_pkey" PRIMARY KEY ("task")
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
CREATE TABLE "run_sample" (
    "run_id" TEXT NOT NULL,
    "seconds" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "cpu_cores" REAL,
    "memory_bytes" BIGINT,
    "gpu_percent" REAL,
    "gpu_memory_bytes" BIGINT,

    CONSTRAINT "run_sample_pkey" PRIMARY KEY ("run_id","seconds","at")
);

-- CreateTable
CREATE TABLE "pool_period" (
    "pool" TEXT NOT NULL,
    "seconds" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "measured_seconds" DOUBLE PRECISION NOT NULL,
    "cpu_seconds" DOUBLE PRECISION NOT NULL,
    "gpu_seconds" DOUBLE PRECISION NOT NULL,
    "memory_byte_seconds" DOUBLE PRECISION NOT NULL,
    "position" BIGINT NOT NULL,

    CONSTRAINT "pool_period_pkey" PRIMARY KEY ("pool","seconds","at")
);

-- CreateTable
CREATE TABLE "pool_use" (
    "pool" TEXT NOT NULL,
    "seconds" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "user_id" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "team_id" TEXT NOT NULL,
    "queue" TEXT NOT NULL,
    "running_seconds" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "queued_seconds" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "blocked_seconds" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "cpu_seconds" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "gpu_seconds" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "memory_byte_seconds" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "started" INTEGER NOT NULL DEFAULT 0,
    "finished" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "cost" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "waits" DECIMAL(450,0) NOT NULL DEFAULT 0,

    CONSTRAINT "pool_use_pkey" PRIMARY KEY ("pool","seconds","at","user_id","account","team_id","queue")
);

-- CreateTable
CREATE TABLE "scheduler_leader" (
    "pool" TEXT NOT NULL,
    "epoch" BIGINT NOT NULL DEFAULT 0,
    "holder" TEXT,
    "host" TEXT,
    "place" TEXT,

    CONSTRAINT "scheduler_leader_pkey" PRIMARY KEY ("pool")
);

-- CreateTable
CREATE TABLE "scheduler_lease" (
    "pool" TEXT NOT NULL,
    "renewed_at" TIMESTAMPTZ(3) NOT NULL,
    "load5" DOUBLE PRECISION,
    "memory_percent" DOUBLE PRECISION,

    CONSTRAINT "scheduler_lease_pkey" PRIMARY KEY ("pool")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "user_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "payload_hash" BYTEA NOT NULL,
    "hash_version" INTEGER NOT NULL,
    "job_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("user_id","key")
);

-- CreateTable
CREATE TABLE "slot_reservation" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),
    "released_at" TIMESTAMPTZ(3),
    "job_id" TEXT,

    CONSTRAINT "slot_reservation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "usage_ledger" (
    "job_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "team_id" TEXT,
    "account" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "cost" DOUBLE PRECISION NOT NULL DEFAULT 0,

    CONSTRAINT "usage_ledger_pkey" PRIMARY KEY ("job_id")
);

-- CreateTable
CREATE TABLE "quota" (
    "id" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "type" "quota_type" NOT NULL,
    "action" "quota_action" NOT NULL,
    "scope" "quota_scope" NOT NULL,
    "key" TEXT,
    "limit" DOUBLE PRECISION NOT NULL,
    "declared_as" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "quota_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "approval_rule" (
    "id" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "name" TEXT NOT NULL,
    "priority" INTEGER NOT NULL DEFAULT 0,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "condition" JSONB NOT NULL,
    "exempt_levels" "user_level"[],
    "required_level" "user_level" NOT NULL DEFAULT 'LEAD',
    "expires_after_seconds" INTEGER NOT NULL DEFAULT 86400,
    "declared_as" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "approval_rule_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "approval" (
    "id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "status" "approval_status" NOT NULL DEFAULT 'PENDING',
    "reason" TEXT NOT NULL,
    "rule_name" TEXT,
    "required_level" "user_level" NOT NULL,
    "requested_by" TEXT NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "decided_by" TEXT,
    "decided_at" TIMESTAMPTZ(3),
    "comment" TEXT,

    CONSTRAINT "approval_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pool_limits" (
    "pool" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "values" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "pool_limits_pkey" PRIMARY KEY ("pool")
);

-- CreateTable
CREATE TABLE "scope_limit" (
    "pool" TEXT NOT NULL,
    "scope" "limit_scope" NOT NULL,
    "name" TEXT NOT NULL,
    "gpu_model" TEXT NOT NULL DEFAULT '',
    "max_jobs" INTEGER,
    "max_gpus" INTEGER,

    CONSTRAINT "scope_limit_pkey" PRIMARY KEY ("pool","scope","name","gpu_model")
);

-- CreateTable
CREATE TABLE "question" (
    "id" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "kind" "question_kind" NOT NULL,
    "payload" JSONB NOT NULL,
    "deadline" TIMESTAMPTZ(3) NOT NULL,
    "answer" JSONB,

    CONSTRAINT "question_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_entry" (
    "id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "actor_id" TEXT,
    "actor_name" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "object_id" TEXT,
    "ip" TEXT,
    "token" TEXT,
    "request_id" TEXT,
    "detail" JSONB,
    "seq" BIGINT,
    "hash" TEXT,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_head" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "seq" BIGINT NOT NULL DEFAULT 0,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_head_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "backup_record" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "first_taken_at" TIMESTAMPTZ(3),
    "taken_at" TIMESTAMPTZ(3),
    "verified_at" TIMESTAMPTZ(3),
    "verified_taken_at" TIMESTAMPTZ(3),
    "restore_seconds" DOUBLE PRECISION,

    CONSTRAINT "backup_record_pkey" PRIMARY KEY ("id")
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

-- CreateTable
CREATE TABLE "access_mode" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "users_since" TIMESTAMPTZ(3),

    CONSTRAINT "access_mode_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "name" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "events" TEXT[],
    "filter" JSONB NOT NULL DEFAULT '{}',
    "position" BIGINT NOT NULL,
    "condition_seq" BIGINT NOT NULL DEFAULT 0,
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "job_id" TEXT,
    "body" TEXT NOT NULL,
    "state" "webhook_delivery_state" NOT NULL DEFAULT 'PENDING',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "lease" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "status" INTEGER,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "server_process" (
    "id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "pid" INTEGER NOT NULL,
    "version" TEXT NOT NULL,
    "pools" JSONB NOT NULL,
    "gauges" JSONB NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "server_process_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "condition" (
    "name" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "since" TIMESTAMPTZ(3),
    "evidence" TEXT[],

    CONSTRAINT "condition_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "condition_check" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01Z'::timestamptz,
    "seq" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "condition_check_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "condition_event" (
    "seq" BIGINT NOT NULL,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "since" TIMESTAMPTZ(3) NOT NULL,
    "evidence" TEXT[],

    CONSTRAINT "condition_event_pkey" PRIMARY KEY ("seq")
);

-- CreateIndex
CREATE UNIQUE INDEX "user_name_key" ON "user"("name");

-- CreateIndex
CREATE UNIQUE INDEX "user_oidc_issuer_oidc_subject_key" ON "user"("oidc_issuer", "oidc_subject");

-- CreateIndex
CREATE UNIQUE INDEX "team_name_key" ON "team"("name");

-- CreateIndex
CREATE INDEX "saved_view_owner_id_idx" ON "saved_view"("owner_id");

-- CreateIndex
CREATE INDEX "saved_view_team_id_idx" ON "saved_view"("team_id");

-- CreateIndex
CREATE INDEX "team_member_user_id_idx" ON "team_member"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_token_prefix_key" ON "api_token"("prefix");

-- CreateIndex
CREATE INDEX "api_token_user_id_idx" ON "api_token"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "node_pool_name_key" ON "node"("pool", "name");

-- CreateIndex
CREATE INDEX "device_claim_run_id_idx" ON "device_claim"("run_id");

-- CreateIndex
CREATE INDEX "allocation_node_id_idx" ON "allocation"("node_id");

-- CreateIndex
CREATE INDEX "job_created_at_id_idx" ON "job"("created_at", "id");

-- CreateIndex
CREATE INDEX "job_user_id_created_at_id_idx" ON "job"("user_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "dependency_on_job_id_idx" ON "dependency"("on_job_id");

-- CreateIndex
CREATE INDEX "queue_entry_pool_band_bid_sequence_idx" ON "queue_entry"("pool", "band" DESC, "bid" DESC, "sequence");

-- CreateIndex
CREATE INDEX "lane_pool_idx" ON "lane"("pool");

-- CreateIndex
CREATE INDEX "pool_change_pool_xact_idx" ON "pool_change"("pool", "xact");

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
CREATE UNIQUE INDEX "run_job_id_number_key" ON "run"("job_id", "number");

-- CreateIndex
CREATE UNIQUE INDEX "artifact_job_id_seq_key" ON "artifact"("job_id", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "artifact_run_id_hash_key" ON "artifact"("run_id", "hash");

-- CreateIndex
CREATE UNIQUE INDEX "run_log_job_id_number_key" ON "run_log"("job_id", "number");

-- CreateIndex
CREATE INDEX "idempotency_key_job_id_idx" ON "idempotency_key"("job_id");

-- CreateIndex
CREATE INDEX "idempotency_key_expires_at_idx" ON "idempotency_key"("expires_at");

-- CreateIndex
CREATE INDEX "slot_reservation_user_id_created_at_id_idx" ON "slot_reservation"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "usage_ledger_user_id_at_idx" ON "usage_ledger"("user_id", "at");

-- CreateIndex
CREATE UNIQUE INDEX "approval_rule_name_key" ON "approval_rule"("name");

-- CreateIndex
CREATE UNIQUE INDEX "approval_job_id_key" ON "approval"("job_id");

-- CreateIndex
CREATE INDEX "approval_status_expires_at_idx" ON "approval"("status", "expires_at");

-- CreateIndex
CREATE INDEX "approval_requested_at_id_idx" ON "approval"("requested_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "question_pool_deadline_idx" ON "question"("pool", "deadline");

-- AddForeignKey
ALTER TABLE "user" ADD CONSTRAINT "user_default_team_id_fkey" FOREIGN KEY ("default_team_id") REFERENCES "team"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "team_member" ADD CONSTRAINT "team_member_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "team_member" ADD CONSTRAINT "team_member_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "submission_queue" ADD CONSTRAINT "submission_queue_pool_fkey" FOREIGN KEY ("pool") REFERENCES "pool"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "node" ADD CONSTRAINT "node_state_by_fkey" FOREIGN KEY ("state_by") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

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
ALTER TABLE "job" ADD CONSTRAINT "job_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "team"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job" ADD CONSTRAINT "job_retry_of_id_fkey" FOREIGN KEY ("retry_of_id") REFERENCES "job"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dependency" ADD CONSTRAINT "dependency_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "dependency" ADD CONSTRAINT "dependency_on_job_id_fkey" FOREIGN KEY ("on_job_id") REFERENCES "job"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "queue_entry" ADD CONSTRAINT "queue_entry_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "hold" ADD CONSTRAINT "hold_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "queue_entry"("job_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run" ADD CONSTRAINT "run_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artifact" ADD CONSTRAINT "artifact_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "closure" ADD CONSTRAINT "closure_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_log" ADD CONSTRAINT "run_log_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "log_chunk" ADD CONSTRAINT "log_chunk_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run_log"("run_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_sample" ADD CONSTRAINT "run_sample_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_key" ADD CONSTRAINT "idempotency_key_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approval" ADD CONSTRAINT "approval_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pool_limits" ADD CONSTRAINT "pool_limits_pool_fkey" FOREIGN KEY ("pool") REFERENCES "pool"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "scope_limit" ADD CONSTRAINT "scope_limit_pool_fkey" FOREIGN KEY ("pool") REFERENCES "pool"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_endpoint_fkey" FOREIGN KEY ("endpoint") REFERENCES "webhook_endpoint"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- End of the generated part.

-- CHECK constraints: rules that a column type cannot express.

CREATE FUNCTION berth_is_final(state job_state) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT state IN ('SUCCEEDED', 'FAILED', 'INTERRUPTED', 'CANCELLED') $$;

ALTER TABLE job
  ADD CONSTRAINT job_version_from_1 CHECK (version >= 1),
  ADD CONSTRAINT job_run_number_from_1 CHECK (run_number >= 1),
  ADD CONSTRAINT job_base_priority_of_a_level CHECK (base_priority IN (0, 10, 20, 30)),
  ADD CONSTRAINT job_override_in_range CHECK (priority_override BETWEEN 0 AND 50),
  ADD CONSTRAINT job_amounts_not_negative CHECK (cpu_millis >= 0 AND memory_bytes >= 0 AND gpu >= 0),
  ADD CONSTRAINT job_estimated_cost_not_negative CHECK (estimated_cost >= 0),
  ADD CONSTRAINT job_cost_not_negative CHECK (cost >= 0),
  ADD CONSTRAINT job_progress_is_a_fraction CHECK (progress_fraction BETWEEN 0 AND 1),
  ADD CONSTRAINT job_finished_exactly_when_final CHECK ((finished_at IS NOT NULL) = berth_is_final(state)),
  ADD CONSTRAINT job_ends_after_it_began CHECK (finished_at >= started_at),
  ADD CONSTRAINT job_log_closed_exactly_when_final CHECK (log_closed = berth_is_final(state));

ALTER TABLE run
  ADD CONSTRAINT run_number_from_1 CHECK (number >= 1),
  ADD CONSTRAINT run_finished_exactly_when_final CHECK ((finished_at IS NOT NULL) = berth_is_final(state)),
  ADD CONSTRAINT run_ends_after_it_began CHECK (finished_at >= started_at),
  ADD CONSTRAINT run_exit_code_only_when_final CHECK (exit_code IS NULL OR berth_is_final(state)),
  ADD CONSTRAINT run_won_tier_known CHECK (won_tier BETWEEN 0 AND 3),
  ADD CONSTRAINT run_signalled_when_asked CHECK (preempt_signalled_at IS NULL OR preempt_requested_at IS NOT NULL),
  ADD CONSTRAINT run_cpu_seconds_is_an_amount CHECK (cpu_seconds >= 0 AND cpu_seconds < 'Infinity'),
  ADD CONSTRAINT run_max_memory_is_an_amount CHECK (max_memory_bytes >= 0);

ALTER TABLE event
  ADD CONSTRAINT event_seq_from_1 CHECK (seq >= 1),
  ADD CONSTRAINT event_position_from_1 CHECK (position >= 1),
  ADD CONSTRAINT event_run_from_1 CHECK (run >= 1);

ALTER TABLE dependency
  ADD CONSTRAINT dependency_position_from_0 CHECK (position >= 0),
  ADD CONSTRAINT dependency_not_on_itself CHECK (job_id <> on_job_id),
  ADD CONSTRAINT dependency_on_known CHECK ("on" IN ('SUCCEEDED', 'FAILED', 'FINISHED'));

ALTER TABLE deleted_job ADD CONSTRAINT deleted_job_position_from_1 CHECK (position >= 1);

ALTER TABLE queue_entry
  ADD CONSTRAINT queue_entry_band_known CHECK (band BETWEEN 0 AND 50 OR band = 100),
  ADD CONSTRAINT queue_entry_bid_not_negative CHECK (bid >= 0);
ALTER TABLE lane ADD CONSTRAINT lane_priority_in_range CHECK (priority BETWEEN 0 AND 50);
ALTER TABLE preemption ADD CONSTRAINT preemption_tier_known CHECK (tier BETWEEN 0 AND 3);
ALTER TABLE capacity_reservation
  ADD CONSTRAINT capacity_reservation_ends_later CHECK (ends_at > starts_at),
  ADD CONSTRAINT capacity_reservation_has_nodes CHECK (cardinality(nodes) > 0);

-- Where the backend chooses nodes, an allocation follows its choice and may not fit beside what Berth counted there.
ALTER TABLE node
  ADD CONSTRAINT node_cpu_not_overbooked CHECK (free_cpu_millis <= cpu_millis AND (delegated OR free_cpu_millis >= 0)),
  ADD CONSTRAINT node_memory_not_overbooked CHECK (free_memory_bytes <= memory_bytes AND (delegated OR free_memory_bytes >= 0)),
  ADD CONSTRAINT node_held_by_others CHECK (held_cpu_millis >= 0 AND held_memory_bytes >= 0
    AND (delegated OR held_cpu_millis = 0 AND held_memory_bytes = 0 AND held_gpus = '{}')),
  ADD CONSTRAINT node_lost_was_something CHECK ((state = 'LOST') = (state_before IS NOT NULL) AND state_before <> 'LOST');

-- Some backends do not report the memory of their GPUs: 0.
ALTER TABLE saved_view
  ADD CONSTRAINT saved_view_team CHECK ((scope = 'TEAM') = (team_id IS NOT NULL));
ALTER TABLE device
  ADD CONSTRAINT device_index_from_0 CHECK (device >= 0),
  ADD CONSTRAINT device_memory_not_negative CHECK (memory_gib >= 0);

ALTER TABLE allocation
  ADD CONSTRAINT allocation_replica_from_0 CHECK (replica >= 0),
  ADD CONSTRAINT allocation_amounts_not_negative CHECK (cpu_millis >= 0 AND memory_bytes >= 0);

ALTER TABLE run_log
  ADD CONSTRAINT run_log_offsets_in_order CHECK (start_offset BETWEEN 0 AND end_offset);

ALTER TABLE log_chunk
  ADD CONSTRAINT log_chunk_not_empty CHECK (start_offset >= 0 AND end_offset > start_offset),
  ADD CONSTRAINT log_chunk_bytes_or_gap CHECK ((data IS NULL) = (gap IS NOT NULL)),
  ADD CONSTRAINT log_chunk_gap_is_known CHECK (gap IN ('LOST', 'OVER_LIMIT', 'NOT_VISIBLE', 'DISK_FULL'));

ALTER TABLE artifact
  ADD CONSTRAINT artifact_uri_or_body CHECK ((uri IS NULL) <> (body IS NULL)),
  ADD CONSTRAINT artifact_size_of_body CHECK (size_bytes IS NOT DISTINCT FROM octet_length(body)),
  ADD CONSTRAINT artifact_run_from_1 CHECK (run >= 1);

ALTER TABLE closure
  ADD CONSTRAINT closure_run_from_1 CHECK (run >= 1),
  ADD CONSTRAINT closure_is_an_object CHECK (json_typeof(body) = 'object');

ALTER TABLE scope_limit
  ADD CONSTRAINT scope_limit_says_something CHECK (max_jobs IS NOT NULL OR max_gpus IS NOT NULL),
  ADD CONSTRAINT scope_limit_not_negative CHECK (max_jobs >= 0 AND max_gpus >= 0);

ALTER TABLE quota
  ADD CONSTRAINT quota_limit_not_negative CHECK ("limit" >= 0),
  ADD CONSTRAINT quota_key_exactly_when_not_global CHECK ((key IS NULL) = (scope = 'GLOBAL'));
ALTER TABLE usage_ledger ADD CONSTRAINT usage_ledger_cost_not_negative CHECK (cost >= 0);
ALTER TABLE slot_reservation
  ADD CONSTRAINT slot_reservation_ends_once CHECK (consumed_at IS NULL OR released_at IS NULL),
  ADD CONSTRAINT slot_reservation_job_only_when_consumed CHECK (job_id IS NULL OR consumed_at IS NOT NULL);
ALTER TABLE idempotency_key ADD CONSTRAINT idempotency_key_ends_later CHECK (expires_at > created_at);

-- `~` replaces a dot of a user's name in the name of the user's account, so no two users have the same account.
ALTER TABLE "user"
  ADD CONSTRAINT user_name_has_no_tilde CHECK (position('~' IN name) = 0),
  ADD CONSTRAINT user_identity_whole CHECK ((oidc_issuer IS NULL) = (oidc_subject IS NULL));
ALTER TABLE team ADD CONSTRAINT team_is_not_users CHECK (name !~* '^users(\.|$)');
ALTER TABLE api_token
  ADD CONSTRAINT api_token_hash_is_sha256 CHECK (octet_length(hash) = 32),
  ADD CONSTRAINT api_token_reads CHECK ('READ' = ANY(scopes));

ALTER TABLE approval
  ADD CONSTRAINT approval_ended_or_pending CHECK ((status = 'PENDING') = (decided_at IS NULL)),
  ADD CONSTRAINT approval_decided_by_somebody CHECK (status NOT IN ('APPROVED', 'REJECTED') OR decided_by IS NOT NULL);
ALTER TABLE approval_rule ADD CONSTRAINT approval_rule_expires CHECK (expires_after_seconds > 0);

ALTER TABLE audit_entry ADD CONSTRAINT audit_entry_chained_whole CHECK ((seq IS NULL) = (hash IS NULL) AND seq > 0);
ALTER TABLE scheduler_leader ADD CONSTRAINT scheduler_leader_epoch_from_0 CHECK (epoch >= 0);

-- Tables of one row.

ALTER TABLE feed_head
  ADD CONSTRAINT feed_head_one_row CHECK (id = 1),
  ADD CONSTRAINT feed_head_position_from_0 CHECK (position >= 0);
ALTER TABLE condition_check
  ADD CONSTRAINT condition_check_one_row CHECK (id = 1),
  ADD CONSTRAINT condition_check_seq_from_0 CHECK (seq >= 0);
ALTER TABLE condition_event
  ADD CONSTRAINT condition_event_seq_from_1 CHECK (seq >= 1),
  ADD CONSTRAINT condition_event_kind_known CHECK (kind IN ('BEGAN', 'OVER'));
ALTER TABLE audit_head ADD CONSTRAINT audit_head_single CHECK (id = 1);
ALTER TABLE access_mode ADD CONSTRAINT access_mode_one_row CHECK (id = 1);
ALTER TABLE backup_record ADD CONSTRAINT backup_record_one_row CHECK (id = 1);
ALTER TABLE run_token_key
  ADD CONSTRAINT run_token_key_one_row CHECK (id = 1),
  ADD CONSTRAINT run_token_key_256_bits CHECK (octet_length(key) = 32);

INSERT INTO feed_head (id, position) VALUES (1, 0);
INSERT INTO condition_check (id) VALUES (1);
INSERT INTO audit_head (seq, hash) VALUES (0, repeat('0', 64));
INSERT INTO access_mode (id, users_since) VALUES (1, NULL);
INSERT INTO backup_record (id) VALUES (1);
-- Two random UUIDs: 244 random bits. PostgreSQL has no other strong source without an extension.
INSERT INTO run_token_key (id, key)
VALUES (1, decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- Indexes that the datamodel cannot express. Where most new rows have no value yet, an index leaves them out: a submission
-- then writes one entry less. States are written out, because the planner of PostgreSQL compares conditions as text.

-- `Zoe` and `zoe` look like one person.
CREATE UNIQUE INDEX user_name_in_any_case ON "user" (lower(name));

-- Runs. At most one run of a job is alive; one interactive run at a time belongs to a user; one run at a time has the
-- InfiniBand of a node.
CREATE UNIQUE INDEX run_one_alive_per_job ON run (job_id)
  WHERE state IN ('BLOCKED', 'QUEUED', 'STARTING', 'RUNNING', 'CANCELLING');
CREATE UNIQUE INDEX run_one_interactive ON run (interactive_user_id) WHERE state IN ('STARTING', 'RUNNING', 'CANCELLING');
CREATE UNIQUE INDEX allocation_infiniband ON allocation (node_id) WHERE infiniband;
CREATE INDEX run_holding ON run (pool) WHERE state IN ('STARTING', 'RUNNING', 'CANCELLING');
CREATE INDEX run_by_native_id ON run (native_id) WHERE native_id IS NOT NULL;
CREATE INDEX run_lost ON run (pool) WHERE lost_at IS NOT NULL;
-- Wait times of the jobs that started last.
CREATE INDEX run_scheduled ON run (pool, scheduled_at) WHERE scheduled_at IS NOT NULL;

-- Events, numbered after their commit. The sequencer reads those of later transactions than it has numbered.
CREATE UNIQUE INDEX event_position ON event (position) WHERE position IS NOT NULL;
CREATE INDEX event_without_position ON event (xact) WHERE position IS NULL;
CREATE UNIQUE INDEX deleted_job_position ON deleted_job (position) WHERE position IS NOT NULL;
CREATE INDEX deleted_job_without_position ON deleted_job (at, job_id) WHERE position IS NULL;

-- Lists of jobs: each order, and each filter that may match few of very many jobs (bench/lists.ts). A move of a job adds an
-- entry to each of these indexes that holds the job, so none is over parts of words. New jobs are added at the end of an
-- index; lists that show the newest job first read it backwards.
CREATE INDEX job_alive_of_user ON job (user_id) WHERE NOT log_closed;
CREATE INDEX job_of_team ON job (team_id, log_closed) WHERE team_id IS NOT NULL;
-- An account and all below it are a range in byte order, whatever the collation of the database.
CREATE INDEX job_by_place ON job (log_closed, account text_pattern_ops, pool, queue, executor);
CREATE INDEX job_by_phase ON job (log_closed, created_at, id);
CREATE INDEX job_by_finish ON job (coalesce(finished_at, 'infinity'), id);
CREATE INDEX job_by_start ON job (coalesce(started_at, 'infinity'), id);
CREATE INDEX job_by_priority ON job ((coalesce(priority_override, base_priority)::bigint), id);
CREATE INDEX job_retrying ON job (retry_of_id) WHERE retry_of_id IS NOT NULL;
CREATE INDEX job_of_project ON job (project, created_at DESC, id DESC) WHERE project IS NOT NULL;
CREATE INDEX job_named ON job (name text_pattern_ops, created_at DESC, id DESC) WHERE name IS NOT NULL;
CREATE INDEX job_labelled ON job USING gin (labels) WHERE labels <> '{}';
CREATE INDEX job_unsuccessful ON job (state, created_at DESC, id DESC) WHERE state IN ('FAILED', 'INTERRUPTED', 'CANCELLED');
CREATE INDEX job_of_reason ON job (state_reason, created_at DESC, id DESC) WHERE state_reason IS NOT NULL;
-- Readers of jobs look for reports (progress, artifacts) by their time.
CREATE INDEX job_told ON job (told_at) WHERE told_at IS NOT NULL;
-- Which of these values occur together: without it the planner multiplies their shares.
CREATE STATISTICS job_places (mcv) ON state, log_closed, pool, queue, executor, account FROM job;

-- The queue. The leader reads the first entries of a lane; positions are counted from the index alone, so it includes the
-- bid, by which it sorts downwards.
CREATE INDEX queue_entry_in_lane ON queue_entry (lane_id, open, (-bid), sequence) INCLUDE (bid, eligible_at);
CREATE INDEX queue_entry_due ON queue_entry (pool, eligible_at) WHERE NOT open;
CREATE INDEX queue_entry_oldest ON queue_entry (pool, eligible_at) WHERE open;
CREATE INDEX lane_overridden ON lane (pool, priority) WHERE overridden;
CREATE INDEX lane_of_account ON lane (pool, account) INCLUDE (id) WHERE NOT interactive;
CREATE INDEX lane_of_user ON lane (user_id, pool);
CREATE UNIQUE INDEX submission_queue_one_default ON submission_queue (is_default) WHERE is_default;

-- Quotas, slots, the audit log, webhooks.
CREATE UNIQUE INDEX quota_one_of_a_kind ON quota (scope, coalesce(key, ''), type, action);
CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint, due_at) WHERE state = 'PENDING';
CREATE INDEX webhook_delivery_finished ON webhook_delivery (endpoint, state, finished_at) WHERE state <> 'PENDING';
CREATE INDEX usage_ledger_of_account ON usage_ledger (account text_pattern_ops, at);
CREATE INDEX usage_ledger_of_team ON usage_ledger (team_id, at) WHERE team_id IS NOT NULL;
CREATE INDEX usage_ledger_at ON usage_ledger USING brin (at);
CREATE INDEX slot_reservation_open ON slot_reservation (user_id) WHERE consumed_at IS NULL AND released_at IS NULL;
CREATE INDEX slot_reservation_made ON slot_reservation USING brin (created_at);
CREATE INDEX audit_entry_unchained_idx ON audit_entry (at, id) WHERE seq IS NULL;
CREATE UNIQUE INDEX audit_entry_place ON audit_entry (seq) WHERE seq IS NOT NULL;
CREATE INDEX audit_entry_of_object ON audit_entry (object_id, seq) WHERE seq IS NOT NULL;
CREATE INDEX audit_entry_of_actor ON audit_entry (actor_id, seq) WHERE seq IS NOT NULL;

-- Versions of what people edit. An unchanged row keeps its version. The members of a team belong to the team and to the user.

CREATE FUNCTION berth_next_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  RETURN NEW;
END $$;

CREATE TRIGGER user_version BEFORE UPDATE ON "user" FOR EACH ROW
  WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION berth_next_version();
CREATE TRIGGER team_version BEFORE UPDATE ON team FOR EACH ROW
  WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION berth_next_version();
CREATE TRIGGER saved_view_version BEFORE UPDATE ON saved_view FOR EACH ROW
  WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION berth_next_version();
CREATE TRIGGER quota_version BEFORE UPDATE ON quota FOR EACH ROW
  WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION berth_next_version();
CREATE TRIGGER approval_rule_version BEFORE UPDATE ON approval_rule FOR EACH ROW
  WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION berth_next_version();
CREATE TRIGGER pool_limits_version BEFORE UPDATE ON pool_limits FOR EACH ROW
  EXECUTE FUNCTION berth_next_version();
-- Amounts of a node change with every run.
CREATE FUNCTION berth_node_state_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.state_at := berth_now();
  RETURN NEW;
END $$;
CREATE TRIGGER node_state_at BEFORE UPDATE OF state ON node FOR EACH ROW
  WHEN (OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION berth_node_state_at();

CREATE TRIGGER node_version BEFORE UPDATE OF state, state_reason, state_before, cpu_model, infiniband ON node FOR EACH ROW
  EXECUTE FUNCTION berth_next_version();

CREATE FUNCTION berth_member_versions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE team SET version = version + 1 WHERE id = coalesce(NEW.team_id, OLD.team_id);
  UPDATE "user" SET version = version + 1 WHERE id = coalesce(NEW.user_id, OLD.user_id);
  RETURN NULL;
END $$;
CREATE TRIGGER team_member_version AFTER INSERT OR DELETE ON team_member FOR EACH ROW
  EXECUTE FUNCTION berth_member_versions();

-- Rows that never change.

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
  EXECUTE FUNCTION berth_refuse('A submitted job never changes');

-- Deletions are announced exactly once, in the transaction of the deletion.

CREATE FUNCTION berth_jobs_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deleted_job (job_id, user_id, name, labels, team_id, account, project, queue, pool, executor, state, state_reason,
    created_at, started_at, finished_at)
  SELECT id, user_id, name, labels, team_id, account, project, queue, pool, executor, state, state_reason, created_at, started_at,
    finished_at FROM gone
  -- An operator may have put a job back.
  ON CONFLICT (job_id) DO UPDATE SET position = NULL, at = EXCLUDED.at, state = EXCLUDED.state, state_reason = EXCLUDED.state_reason,
    started_at = EXCLUDED.started_at, finished_at = EXCLUDED.finished_at;
  RETURN NULL;
END $$;
CREATE TRIGGER job_deleted AFTER DELETE ON job REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
  EXECUTE FUNCTION berth_jobs_deleted();

-- Changes of the queue: the transaction of a change also writes what the leader of the pool has to read (pool_change), and
-- how many entries of each chunk and account came and went (the tallies, from which positions are counted).

CREATE FUNCTION berth_chunk(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT $1 / 2048';
CREATE FUNCTION berth_part(account text) RETURNS int LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT get_byte(sha256(convert_to($1, 'UTF8')), 0) & 15 $$;

-- An insertion has no rows before it and a deletion none after it: `before` and `after` are read only where they exist. Most
-- moves of jobs change no queue and call this with no rows: FOUND skips the rest. Entries with the same lane, bid and chunk
-- are counted before their lane is read, once for both tables. LATERAL … OFFSET 0 finds lanes by key, one by one: the
-- planner expects a thousand rows of every transition table and would read all lanes for one entry.
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
CREATE TRIGGER queue_entry_joined AFTER INSERT ON queue_entry
  REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION berth_tell_queue();
CREATE TRIGGER queue_entry_left AFTER DELETE ON queue_entry
  REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION berth_tell_queue();
CREATE TRIGGER queue_entry_moved AFTER UPDATE ON queue_entry
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION berth_tell_queue();

-- Jobs that wait for jobs which have just ended. Volatile: it sees what was committed after the calling statement began.
CREATE FUNCTION berth_dependents(ended text[]) RETURNS TABLE (pool text, job_id text) LANGUAGE plpgsql VOLATILE STRICT ROWS 10 AS $$
BEGIN
  RETURN QUERY SELECT DISTINCT j.pool, j.id FROM dependency d JOIN job j ON j.id = d.job_id
  WHERE d.on_job_id = ANY (ended) AND j.state IN ('BLOCKED', 'QUEUED');
END $$;

-- Devices that a run holds: claimed ones, and those that an allocation on a delegated node counts.
CREATE VIEW held_device AS
  SELECT node_id, device, run_id FROM device_claim
  UNION ALL
  SELECT node_id, unnest(gpu_slots), run_id FROM allocation WHERE gpu_slots <> '{}';

-- Minutes of usage that become hours.
CREATE INDEX pool_use_minute ON pool_use (at) WHERE seconds = 60;

-- Storage.

-- Chunks are compressed already: PostgreSQL need not try again, and can cut pieces out without reading the whole.
ALTER TABLE log_chunk ALTER COLUMN data SET STORAGE EXTERNAL;

-- Rows that are updated often find room on their own page (HOT). Their tables are vacuumed by count, not by share: a queue
-- through which a million jobs went has few rows and a million dead ones.
ALTER TABLE job SET (fillfactor = 80);
ALTER TABLE node SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
ALTER TABLE run_log SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE scheduler_lease
  SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
ALTER TABLE queue_entry SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE device_claim SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE allocation SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE pool_change SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE queue_tally SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
ALTER TABLE account_tally SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
ALTER TABLE webhook_delivery SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
ALTER TABLE account_total SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
