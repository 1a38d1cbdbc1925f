-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- CreateTable
CREATE TABLE "secret" (
    "id" TEXT NOT NULL,
    "user_id" TEXT,
    "team_id" TEXT,
    "name" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "data" BYTEA NOT NULL,
    "set_by_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT berth_now(),
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "secret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "run_secret" (
    "run_id" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "data" BYTEA NOT NULL,

    CONSTRAINT "run_secret_pkey" PRIMARY KEY ("run_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "secret_user_id_name_key" ON "secret"("user_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "secret_team_id_name_key" ON "secret"("team_id", "name");

-- AddForeignKey
ALTER TABLE "secret" ADD CONSTRAINT "secret_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret" ADD CONSTRAINT "secret_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "team"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "secret" ADD CONSTRAINT "secret_set_by_id_fkey" FOREIGN KEY ("set_by_id") REFERENCES "user"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_secret" ADD CONSTRAINT "run_secret_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- End of the generated part.

ALTER TABLE secret ADD CONSTRAINT secret_owner CHECK ((user_id IS NULL) <> (team_id IS NULL));

-- Encrypted values do not compress.
ALTER TABLE secret ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE run_secret ALTER COLUMN data SET STORAGE EXTERNAL;
