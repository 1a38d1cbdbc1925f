-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "removed_object" ADD COLUMN     "remove_at" TIMESTAMPTZ(3) NOT NULL DEFAULT (berth_now() + '01:00:00'::interval);

-- CreateIndex
CREATE INDEX "job_session_run_id_idx" ON "job_session"("run_id");

-- AddForeignKey
ALTER TABLE "job_session" ADD CONSTRAINT "job_session_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "job_session" ADD CONSTRAINT "job_session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- End of the generated part.

-- A check is kept if it is unknown, so the size of a file could be missing.
ALTER TABLE artifact
  DROP CONSTRAINT artifact_size,
  ADD CONSTRAINT artifact_size CHECK (
    CASE WHEN snapshot_id IS NULL THEN size_bytes IS NOT DISTINCT FROM octet_length(body)
      ELSE coalesce(size_bytes >= 0, false) END);
