-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "pool" ADD COLUMN     "executor_reports" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN     "reserved_unix_users" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "unix_user_required" BOOLEAN NOT NULL DEFAULT false;

-- End of the generated part.
