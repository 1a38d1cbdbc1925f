-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "job" ADD COLUMN     "snapshot_id" TEXT;

-- CreateTable
CREATE TABLE "snapshot" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "files" INTEGER NOT NULL,
    "bytes" BIGINT NOT NULL,
    "commit" TEXT,
    "branch" TEXT,
    "remote" TEXT,
    "changed" INTEGER,
    "diff" TEXT,
    "list" BYTEA,
    "blobs" BIGINT[] DEFAULT ARRAY[]::BIGINT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "completed_at" TIMESTAMPTZ(3),
    "unused_since" TIMESTAMPTZ(3) DEFAULT berth_now(),

    CONSTRAINT "snapshot_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "blob" (
    "id" BIGSERIAL NOT NULL,
    "user_id" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "bytes" BIGINT NOT NULL,
    "complete" BOOLEAN NOT NULL,
    "snapshot_id" TEXT,

    CONSTRAINT "blob_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "blob_chunk" (
    "blob_id" BIGINT NOT NULL,
    "start_offset" BIGINT NOT NULL,
    "data" BYTEA NOT NULL,

    CONSTRAINT "blob_chunk_pkey" PRIMARY KEY ("blob_id","start_offset")
);

-- CreateTable
CREATE TABLE "used_upload" (
    "id" TEXT NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),

    CONSTRAINT "used_upload_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "snapshot_user_id_hash_key" ON "snapshot"("user_id", "hash");

-- CreateIndex
CREATE INDEX "blob_snapshot_id_idx" ON "blob"("snapshot_id");

-- CreateIndex
CREATE INDEX "job_snapshot_id_idx" ON "job"("snapshot_id");

-- AddForeignKey
ALTER TABLE "job" ADD CONSTRAINT "job_snapshot_id_fkey" FOREIGN KEY ("snapshot_id") REFERENCES "snapshot"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "snapshot" ADD CONSTRAINT "snapshot_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "blob" ADD CONSTRAINT "blob_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "blob" ADD CONSTRAINT "blob_snapshot_id_fkey" FOREIGN KEY ("snapshot_id") REFERENCES "snapshot"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "blob_chunk" ADD CONSTRAINT "blob_chunk_blob_id_fkey" FOREIGN KEY ("blob_id") REFERENCES "blob"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- End of the generated part.

-- A hash is stored once per user. Two uploads of one file may arrive at the same time; the first that is complete stays.
CREATE UNIQUE INDEX blob_user_hash_key ON blob (user_id, hash) WHERE complete;

ALTER TABLE snapshot
  ADD CONSTRAINT snapshot_counts CHECK (files > 0 AND bytes >= 0 AND octet_length(hash) = 32),
  ADD CONSTRAINT snapshot_complete CHECK (completed_at IS NULL OR list IS NOT NULL);
ALTER TABLE blob ADD CONSTRAINT blob_counts CHECK (bytes > 0 AND octet_length(hash) = 32);

-- Lists and chunks are compressed already.
ALTER TABLE snapshot ALTER COLUMN list SET STORAGE EXTERNAL;
ALTER TABLE blob_chunk ALTER COLUMN data SET STORAGE EXTERNAL;
