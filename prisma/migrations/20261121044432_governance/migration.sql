-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

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
CREATE TYPE "question_kind" AS ENUM ('DRY_RUN', 'NO_WAIT', 'PASS');

-- AlterTable
ALTER TABLE "user" ADD COLUMN     "allow" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "default_team_id" TEXT,
ADD COLUMN     "deny" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "retry_of_id" TEXT,
ADD COLUMN     "team_id" TEXT;

-- AlterTable
ALTER TABLE "queue_entry" ADD COLUMN     "scopes" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "team" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "team_pkey" PRIMARY KEY ("id")
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
    "type" "quota_type" NOT NULL,
    "action" "quota_action" NOT NULL,
    "scope" "quota_scope" NOT NULL,
    "key" TEXT,
    "limit" DOUBLE PRECISION NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "quota_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "approval_rule" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "priority" INTEGER NOT NULL DEFAULT 0,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "condition" JSONB NOT NULL,
    "exempt_levels" "user_level"[],
    "required_level" "user_level" NOT NULL DEFAULT 'LEAD',
    "expires_after_seconds" INTEGER NOT NULL DEFAULT 86400,
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

-- CreateIndex
CREATE UNIQUE INDEX "team_name_key" ON "team"("name");

-- CreateIndex
CREATE INDEX "team_member_user_id_idx" ON "team_member"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_token_prefix_key" ON "api_token"("prefix");

-- CreateIndex
CREATE INDEX "api_token_user_id_idx" ON "api_token"("user_id");

-- CreateIndex
CREATE INDEX "idempotency_key_job_id_idx" ON "idempotency_key"("job_id");

-- CreateIndex
CREATE INDEX "idempotency_key_expires_at_idx" ON "idempotency_key"("expires_at");

-- CreateIndex
CREATE INDEX "slot_reservation_user_id_created_at_id_idx" ON "slot_reservation"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "usage_ledger_user_id_at_idx" ON "usage_ledger"("user_id", "at");

-- CreateIndex
CREATE INDEX "usage_ledger_team_id_at_idx" ON "usage_ledger"("team_id", "at");

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

-- CreateIndex
CREATE UNIQUE INDEX "audit_entry_seq_key" ON "audit_entry"("seq");

-- CreateIndex
CREATE INDEX "audit_entry_object_id_seq_idx" ON "audit_entry"("object_id", "seq");

-- CreateIndex
CREATE INDEX "audit_entry_actor_id_seq_idx" ON "audit_entry"("actor_id", "seq");

-- AddForeignKey
ALTER TABLE "user" ADD CONSTRAINT "user_default_team_id_fkey" FOREIGN KEY ("default_team_id") REFERENCES "team"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "team_member" ADD CONSTRAINT "team_member_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "team_member" ADD CONSTRAINT "team_member_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job" ADD CONSTRAINT "job_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "team"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job" ADD CONSTRAINT "job_retry_of_id_fkey" FOREIGN KEY ("retry_of_id") REFERENCES "job"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_key" ADD CONSTRAINT "idempotency_key_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approval" ADD CONSTRAINT "approval_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pool_limits" ADD CONSTRAINT "pool_limits_pool_fkey" FOREIGN KEY ("pool") REFERENCES "pool"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "scope_limit" ADD CONSTRAINT "scope_limit_pool_fkey" FOREIGN KEY ("pool") REFERENCES "pool"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- End of the generated part.

-- Limits.

ALTER TABLE scope_limit
  ADD CONSTRAINT scope_limit_says_something CHECK (max_jobs IS NOT NULL OR max_gpus IS NOT NULL),
  ADD CONSTRAINT scope_limit_not_negative CHECK (max_jobs >= 0 AND max_gpus >= 0);

-- What limits may hold a job back by: the leader passes over whole scopes that are full without reading their jobs.
CREATE FUNCTION berth_scopes(user_id text, team_id text, queue text, project text, gpu int) RETURNS text[]
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$
  SELECT CASE WHEN gpu > 0 THEN s || 'gpu'::text || ARRAY(SELECT 'gpu/' || e FROM unnest(s) e) ELSE s END
  FROM (SELECT array_remove(
    ARRAY['user:' || user_id, 'team:' || team_id, 'queue:' || queue, 'project:' || project], NULL)) AS x(s)
$$;

-- Quotas and what they count.

ALTER TABLE quota
  ADD CONSTRAINT quota_limit_not_negative CHECK ("limit" >= 0),
  ADD CONSTRAINT quota_key_exactly_when_not_global CHECK ((key IS NULL) = (scope = 'GLOBAL'));
ALTER TABLE usage_ledger ADD CONSTRAINT usage_ledger_cost_not_negative CHECK (cost >= 0);
ALTER TABLE slot_reservation
  ADD CONSTRAINT slot_reservation_ends_once CHECK (consumed_at IS NULL OR released_at IS NULL),
  ADD CONSTRAINT slot_reservation_job_only_when_consumed CHECK (job_id IS NULL OR consumed_at IS NOT NULL);
ALTER TABLE idempotency_key ADD CONSTRAINT idempotency_key_ends_later CHECK (expires_at > created_at);

CREATE UNIQUE INDEX quota_one_of_a_kind ON quota (scope, coalesce(key, ''), type, action);
CREATE INDEX slot_reservation_open ON slot_reservation (user_id) WHERE consumed_at IS NULL AND released_at IS NULL;
CREATE INDEX job_alive_of_team ON job (team_id) WHERE NOT log_closed AND team_id IS NOT NULL;
-- An account and all below it: a range in byte order, whatever the database's collation.
CREATE INDEX job_alive_of_account ON job (account text_pattern_ops) WHERE NOT log_closed;
CREATE INDEX usage_ledger_of_account ON usage_ledger (account text_pattern_ops, at);
CREATE INDEX usage_ledger_at ON usage_ledger USING brin (at);

-- Audit log. What has no place yet is found without reading the rest.

CREATE INDEX audit_entry_unchained_idx ON audit_entry (at, id) WHERE seq IS NULL;
ALTER TABLE audit_entry ADD CONSTRAINT audit_entry_chained_whole CHECK ((seq IS NULL) = (hash IS NULL) AND seq > 0);
ALTER TABLE audit_head ADD CONSTRAINT audit_head_single CHECK (id = 1);
INSERT INTO audit_head (seq, hash) VALUES (0, repeat('0', 64));

-- People, teams, tokens.

ALTER TABLE team ADD CONSTRAINT team_is_not_users CHECK (name !~* '^users(\.|$)');
ALTER TABLE api_token
  ADD CONSTRAINT api_token_hash_is_sha256 CHECK (octet_length(hash) = 32),
  ADD CONSTRAINT api_token_reads CHECK ('READ' = ANY(scopes));
-- A team that goes leaves its jobs: they are found without reading the others.
CREATE INDEX job_of_team ON job (team_id) WHERE team_id IS NOT NULL;

-- Approvals.

ALTER TABLE approval
  ADD CONSTRAINT approval_ended_or_pending CHECK ((status = 'PENDING') = (decided_at IS NULL)),
  ADD CONSTRAINT approval_decided_by_somebody CHECK (status NOT IN ('APPROVED', 'REJECTED') OR decided_by IS NOT NULL);
ALTER TABLE approval_rule ADD CONSTRAINT approval_rule_expires CHECK (expires_after_seconds > 0);
