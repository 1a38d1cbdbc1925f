-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "account_view" ADD COLUMN     "decayed_use" DOUBLE PRECISION,
ADD COLUMN     "share" DOUBLE PRECISION NOT NULL DEFAULT 0;

-- End of the generated part.
