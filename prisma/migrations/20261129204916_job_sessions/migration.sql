-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterEnum
ALTER TYPE "token_scope" ADD VALUE 'EXEC';

-- AlterTable
ALTER TABLE "pool" ADD COLUMN     "exec" BOOLEAN NOT NULL DEFAULT true;

-- CreateTable
CREATE TABLE "job_session" (
    "id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "run" INTEGER NOT NULL,
    "user_id" TEXT NOT NULL,
    "token" TEXT,
    "ip" TEXT,
    "ticket_hash" BYTEA NOT NULL,
    "command" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "port" INTEGER,
    "columns" INTEGER,
    "rows" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "expires_at" TIMESTAMPTZ(3),
    "opened_at" TIMESTAMPTZ(3),
    "seen_at" TIMESTAMPTZ(3),
    "end_requested_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "end_reason" TEXT,
    "exit_code" INTEGER,
    "bytes_in" BIGINT NOT NULL DEFAULT 0,
    "bytes_out" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "job_session_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "job_session_job_id_created_at_idx" ON "job_session"("job_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "job_session_user_id_created_at_idx" ON "job_session"("user_id", "created_at" DESC);

-- AddForeignKey
ALTER TABLE "job_session" ADD CONSTRAINT "job_session_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- End of the generated part.

ALTER TABLE job_session
  ADD CONSTRAINT job_session_port CHECK (port BETWEEN 1 AND 65535),
  ADD CONSTRAINT job_session_ended CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
  ADD CONSTRAINT job_session_bytes CHECK (bytes_in >= 0 AND bytes_out >= 0);
