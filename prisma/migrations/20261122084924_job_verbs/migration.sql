-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

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

-- CreateIndex
CREATE UNIQUE INDEX "artifact_job_id_seq_key" ON "artifact"("job_id", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "artifact_run_id_hash_key" ON "artifact"("run_id", "hash");

-- AddForeignKey
ALTER TABLE "artifact" ADD CONSTRAINT "artifact_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "closure" ADD CONSTRAINT "closure_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "job"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- End of the generated part.

ALTER TABLE artifact
  ADD CONSTRAINT artifact_uri_or_body CHECK ((uri IS NULL) <> (body IS NULL)),
  ADD CONSTRAINT artifact_size_of_body CHECK (size_bytes IS NOT DISTINCT FROM octet_length(body)),
  ADD CONSTRAINT artifact_run_from_1 CHECK (run >= 1);

ALTER TABLE closure
  ADD CONSTRAINT closure_run_from_1 CHECK (run >= 1),
  ADD CONSTRAINT closure_is_an_object CHECK (json_typeof(body) = 'object');

ALTER TABLE run_token_key
  ADD CONSTRAINT run_token_key_one_row CHECK (id = 1),
  ADD CONSTRAINT run_token_key_256_bits CHECK (octet_length(key) = 32);

-- Two random UUIDs: 244 bits from the strong source of PostgreSQL, which has no other without an extension.
INSERT INTO run_token_key (id, key)
VALUES (1, decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
