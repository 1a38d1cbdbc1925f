-- Generated from schema.prisma by `npm run migration`; edit above and below, not here.

-- CreateTable
CREATE TABLE "run_metric" (
    "run_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "run_metric_pkey" PRIMARY KEY ("run_id","name")
);

-- CreateTable
CREATE TABLE "metric_point" (
    "run_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "step" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "value" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "metric_point_pkey" PRIMARY KEY ("run_id","name","step")
);

-- AddForeignKey
ALTER TABLE "run_metric" ADD CONSTRAINT "run_metric_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "run"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "metric_point" ADD CONSTRAINT "metric_point_run_id_name_fkey" FOREIGN KEY ("run_id", "name") REFERENCES "run_metric"("run_id", "name") ON DELETE CASCADE ON UPDATE CASCADE;

-- End of the generated part.
