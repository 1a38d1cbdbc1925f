-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- DropIndex
DROP INDEX "artifact_job_id_seq_key";

-- AlterTable
ALTER TABLE "run" ADD COLUMN     "outputs_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "artifact" ADD COLUMN     "sha256" BYTEA,
ADD COLUMN     "snapshot_id" TEXT,
ALTER COLUMN "size_bytes" SET DATA TYPE BIGINT;

-- CreateIndex
CREATE INDEX "artifact_job_id_seq_idx" ON "artifact"("job_id", "seq");

-- CreateIndex
CREATE INDEX "artifact_snapshot_id_idx" ON "artifact"("snapshot_id");

-- AddForeignKey
ALTER TABLE "artifact" ADD CONSTRAINT "artifact_snapshot_id_fkey" FOREIGN KEY ("snapshot_id") REFERENCES "snapshot"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- End of the generated part.

ALTER TABLE artifact
  DROP CONSTRAINT artifact_uri_or_body,
  DROP CONSTRAINT artifact_size_of_body,
  ADD CONSTRAINT artifact_content CHECK (num_nonnulls(uri, body, snapshot_id) = 1),
  ADD CONSTRAINT artifact_file CHECK ((snapshot_id IS NULL) = (sha256 IS NULL) AND octet_length(sha256) = 32),
  ADD CONSTRAINT artifact_size CHECK (
    CASE WHEN snapshot_id IS NULL THEN size_bytes IS NOT DISTINCT FROM octet_length(body) ELSE size_bytes >= 0 END);
