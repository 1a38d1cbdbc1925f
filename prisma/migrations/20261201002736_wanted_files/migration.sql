-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- AlterTable
ALTER TABLE "snapshot" ADD COLUMN     "wanted" BYTEA;

-- End of the generated part.

-- `wanted` is compressed already, and compressing 50,000 ids takes longer than writing them.
ALTER TABLE snapshot ALTER COLUMN wanted SET STORAGE EXTERNAL, ALTER COLUMN blobs SET STORAGE EXTERNAL;
