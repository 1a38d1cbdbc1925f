-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- CreateTable
CREATE TABLE "access_mode" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "users_since" TIMESTAMPTZ(3),

    CONSTRAINT "access_mode_pkey" PRIMARY KEY ("id")
);

-- End of the generated part.

ALTER TABLE access_mode ADD CONSTRAINT access_mode_one_row CHECK (id = 1);

-- A database with users, or that ever had a token, is taken to be one where people log in.
INSERT INTO access_mode (id, users_since)
SELECT 1, CASE WHEN EXISTS (SELECT FROM "user" WHERE name <> 'local') OR EXISTS (SELECT FROM api_token) THEN berth_now() END;
