-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- DropIndex
DROP INDEX "pool_change_pool_id_idx";

-- AlterTable
ALTER TABLE "pool_change" ADD COLUMN     "xact" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint;

-- CreateIndex
CREATE INDEX "pool_change_pool_xact_idx" ON "pool_change"("pool", "xact");

-- End of the generated part.
